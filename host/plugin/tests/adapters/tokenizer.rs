//! Real tokenizer files.

use bench_core::tokens::TokenCounter;
use bench_plugin::{Tokenizer, TokenizerError};
use std::path::Path;
use std::sync::LazyLock;

static QWEN3: LazyLock<Tokenizer> = LazyLock::new(|| {
    let path = crate::common::root().join("tests/.cache/tokenizer-qwen3/tokenizer.json");
    assert!(path.is_file(), "run tests/fetch.sh");
    Tokenizer::load(&path).unwrap()
});

#[test]
fn qwen3_is_what_its_makers_say() {
    assert_eq!(QWEN3.vocabulary_size(), 151_643);
    assert_eq!(QWEN3.greatest_id(), 151_668);
    assert_eq!(QWEN3.added_per_text(), 0);
    assert_eq!(QWEN3.special_ids()[..3], [151_643, 151_644, 151_645]);
    assert_eq!(QWEN3.sha256(), "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4");
}

#[test]
fn special_tokens_are_seen_in_text_and_kept_in_decoding() {
    let ids = QWEN3.encode("<|im_start|>user\nHi<|im_end|>", false).unwrap();
    assert_eq!(ids, [151_644, 872, 198, 13048, 151_645]);
    assert_eq!(QWEN3.decode(&ids).unwrap(), "<|im_start|>user\nHi<|im_end|>");
    assert_eq!(QWEN3.count("<|im_start|>user\nHi<|im_end|>"), 5);
    // Python's tokenizer leaves unknown ids out.
    assert_eq!(QWEN3.decode(&[13048, 9_999_999]).unwrap(), "Hi");
}

#[test]
fn half_a_character_becomes_a_replacement_character() {
    let letter = QWEN3.encode("\u{10a60}", false).unwrap();
    assert!(letter.len() > 1);
    assert_eq!(QWEN3.decode(&letter[..1]).unwrap(), "\u{fffd}");
    assert_eq!(QWEN3.decode(&letter).unwrap(), "\u{10a60}");
}

fn load(json: &str) -> Result<Tokenizer, TokenizerError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    std::fs::write(&path, json).unwrap();
    Tokenizer::load(&path)
}

/// In the old format: string merges, a byte-level pre-tokenizer, a template that adds a token.
const BYTE_LEVEL: &str = r#"{"version": "1.0", "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
    "padding": null,
    "added_tokens": [{"id": 257, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
    "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [257], "tokens": ["<s>"]}}},
    "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
    "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null, "end_of_word_suffix": null,
        "fuse_unk": false, "byte_fallback": false, "vocab": VOCAB, "merges": ["h i"]}}"#;

#[test]
fn an_older_file_is_read_and_never_cuts() {
    // All 256 bytes in GPT-2's printable form, as a byte-level vocabulary has them.
    let mut vocab = serde_json::Map::new();
    for (id, token) in ["a", "b", "h", "i", "hi"].into_iter().enumerate() {
        vocab.insert(token.to_owned(), id.into());
    }
    let mut printable = 256u32;
    for byte in 0u32..256 {
        let c = match byte {
            0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => byte,
            _ => {
                printable += 1;
                printable - 1
            }
        };
        let next = vocab.len();
        vocab.entry(char::from_u32(c).unwrap().to_string()).or_insert_with(|| next.into());
    }
    assert_eq!(vocab.len(), 257);
    let t = load(&BYTE_LEVEL.replace("VOCAB", &serde_json::Value::Object(vocab).to_string())).unwrap();
    assert_eq!((t.vocabulary_size(), t.added_per_text(), t.special_ids()), (257, 1, &[257][..]));
    assert_eq!(t.encode("hiab", false).unwrap(), [4, 0, 1]);
    assert_eq!(t.encode("hiab", true).unwrap(), [257, 4, 0, 1], "the file's own cutting is off");
    assert_eq!(t.count_tokens("hiab", true).unwrap(), 4);
    assert_eq!(t.decode(&[257, 4, 0]).unwrap(), "<s>hia");
}

#[test]
fn other_models_are_read() {
    let wordpiece = r###"{"version": "1.0", "added_tokens": [], "normalizer": {"type": "BertNormalizer", "clean_text": true,
        "handle_chinese_chars": true, "strip_accents": null, "lowercase": true}, "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": null, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
        "vocab": {"[UNK]": 0, "play": 1, "##ing": 2}}}"###;
    assert_eq!(load(wordpiece).unwrap().encode("Playing chess", false).unwrap(), [1, 2, 0]);
    let unigram = r#"{"version": "1.0", "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
        "post_processor": null, "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
        "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": false,
        "vocab": [["<unk>", 0.0], ["▁he", -1.0], ["llo", -1.5], ["▁", -3.0]]}}"#;
    let t = load(unigram).unwrap();
    assert_eq!(t.vocabulary_size(), 4);
    assert_eq!(t.encode("hello", false).unwrap(), [1, 2]);
    assert_eq!(t.decode(&[1, 2]).unwrap(), "hello");
}

#[test]
fn what_is_no_tokenizer_is_told_so() {
    let message = |json: &str| load(json).unwrap_err().to_string();
    assert!(message("[").contains("it is no JSON of a tokenizer"), "{}", message("["));
    assert!(message("{}").contains("it has no `model`"));
    let missing = Tokenizer::load(Path::new("/nowhere/tokenizer.json"));
    assert!(missing.unwrap_err().to_string().starts_with("failed to read the tokenizer `/nowhere/tokenizer.json`"));
    let unknown = r#"{"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": null, "post_processor": null,
        "decoder": null, "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "<unk>"}}"#;
    assert!(message(unknown).contains("can't encode every text"), "{}", message(unknown));
}
