//! Options as arguments, and settings as they are described and read.

use bench_sdk::command::{CommandOption, args, settings};
use bench_sdk::types::{IntegerRange, NumberRange};
use bench_sdk::{Setting, SettingKind, Settings, Value};

#[test]
fn each_form_is_written_its_own_way() {
    let options = [
        CommandOption::integer("--tp_size", "").min(1).omit(1),
        CommandOption::number("--share", "").between(0.0, 1.0),
        CommandOption::duration("--ttft", ""),
        CommandOption::size("--bytes", ""),
        CommandOption::list("--sizes", ""),
        CommandOption::list("--fault", "").repeated(),
        CommandOption::list("--names", "").joined(),
        CommandOption::switch("--eager", "").joined(),
        CommandOption::toggle("--cache-prompt", ""),
        CommandOption::text("--dtype", "").joined(),
    ];
    let list = |items: &[&str]| Value::TextList(items.iter().map(|&item| item.to_owned()).collect());
    let given = Settings::default()
        .with("dtype", "a b")
        .with("cache-prompt", false)
        .with("eager", true)
        .with("names", list(&["x", "y"]))
        .with("fault", list(&["a", "b"]))
        .with("sizes", list(&["1", "2"]))
        .with("bytes", 1 << 30)
        .with("ttft", 50)
        .with("share", 0.9)
        .with("tp-size", 8);
    assert_eq!(
        args(&options, &given),
        [
            "--tp_size",
            "8",
            "--share",
            "0.9",
            "--ttft",
            "50ms",
            "--bytes",
            "1073741824",
            "--sizes",
            "1",
            "2",
            "--fault",
            "a",
            "--fault",
            "b",
            "--names=x,y",
            "--eager",
            "--no-cache-prompt",
            "--dtype=a b",
        ]
    );
    let nothing =
        Settings::default().with("tp-size", 1).with("eager", false).with("sizes", list(&[])).with("fault", list(&[]));
    assert!(args(&options, &nothing).is_empty());
    assert!(args(&options, &Settings::default()).is_empty());
}

#[test]
fn a_setting_has_the_name_of_its_option() {
    let options =
        [CommandOption::integer("--tensor_parallel-size", "Devices.").min(1).max(8).spelled("-tp").default(2)];
    let described = settings(&options);
    let expected = Setting {
        key: "tensor-parallel-size".to_owned(),
        doc: "Devices.".to_owned(),
        kind: SettingKind::Integer(IntegerRange { min: Some(1), max: Some(8) }),
        default: Some(Value::Integer(2)),
        required: false,
        engine_option: Some("--tensor_parallel-size".to_owned()),
        deprecated: None,
    };
    assert_eq!(described, [expected]);
    assert_eq!(args(&options, &Settings::defaults(&described)), ["-tp", "2"]);
}

#[test]
fn bounds_belong_to_their_kinds() {
    let number = Setting::number("n").between(0.0, 1.0).min(3);
    assert_eq!(number.kind, SettingKind::Number(NumberRange { min: Some(0.0), max: Some(1.0) }));
    let source = Setting::source("path").required().deprecated("use `file`");
    assert!(source.required && source.deprecated.as_deref() == Some("use `file`"));
}

#[test]
fn values_are_read_by_kind() {
    let settings = Settings::default().with("i", 7).with("n", 0.5).with("t", "x").with("neg", -1);
    assert_eq!((settings.number("i"), settings.number("n"), settings.integer("n")), (Some(7.0), Some(0.5), None));
    assert_eq!((settings.unsigned("i"), settings.unsigned("neg"), settings.text("i")), (Some(7), None, None));
    assert_eq!(settings.with("i", 8).integer("i"), Some(8));
}
