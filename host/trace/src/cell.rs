//! How the fields of a record become cells of a row, and back.

use bench_core::clock::Nanos;
use bench_core::outcome::{Outcome, UnknownWord};
use bench_core::record::{Phase, Stamp, TokenSource};
use std::sync::Arc;

/// A field that is a whole number.
pub(crate) trait Whole {
    /// The number; `None` is null.
    fn get(&self) -> Option<u64>;
    /// Takes a number over; `None` where it does not fit.
    fn set(&mut self, value: u64) -> Option<()>;
}

macro_rules! whole {
    ($($type:ty),+) => {$(
        impl Whole for $type {
            fn get(&self) -> Option<u64> {
                Some(u64::from(*self))
            }
            fn set(&mut self, value: u64) -> Option<()> {
                *self = value.try_into().ok()?;
                Some(())
            }
        }
    )+};
}
whole!(u16, u32, u64);

impl Whole for Nanos {
    fn get(&self) -> Option<u64> {
        Some(self.0)
    }
    fn set(&mut self, value: u64) -> Option<()> {
        self.0 = value;
        Some(())
    }
}

impl<T: Whole + Default> Whole for Option<T> {
    fn get(&self) -> Option<u64> {
        self.as_ref().and_then(Whole::get)
    }
    fn set(&mut self, value: u64) -> Option<()> {
        self.insert(T::default()).set(value)
    }
}

/// A field that is free text.
pub(crate) trait Text {
    /// The text; `None` is null.
    fn get(&self) -> Option<&str>;
    /// Takes a text over. `last` is the shared text of the row before: equal neighbours share one.
    fn set(&mut self, value: &str, last: &mut Option<Arc<str>>);
}

impl Text for Arc<str> {
    fn get(&self) -> Option<&str> {
        Some(self)
    }
    fn set(&mut self, value: &str, last: &mut Option<Arc<str>>) {
        *self = match last {
            Some(text) if **text == *value => Arc::clone(text),
            _ => Arc::clone(last.insert(Arc::from(value))),
        };
    }
}

impl Text for Option<Arc<str>> {
    fn get(&self) -> Option<&str> {
        self.as_deref()
    }
    fn set(&mut self, value: &str, last: &mut Option<Arc<str>>) {
        let mut text = last.clone().unwrap_or_else(|| Arc::from(""));
        Text::set(&mut text, value, last);
        *self = Some(text);
    }
}

impl Text for Option<String> {
    fn get(&self) -> Option<&str> {
        self.as_deref()
    }
    fn set(&mut self, value: &str, _last: &mut Option<Arc<str>>) {
        *self = Some(value.to_owned());
    }
}

/// A field that is one word of a list.
pub(crate) trait Word {
    /// The word; `None` is null.
    fn get(&self) -> Option<&'static str>;
    /// Takes a word over.
    fn set(&mut self, value: &str) -> Result<(), UnknownWord>;
}

macro_rules! word {
    ($($type:ty),+) => {$(
        impl Word for $type {
            fn get(&self) -> Option<&'static str> {
                Some(self.as_str())
            }
            fn set(&mut self, value: &str) -> Result<(), UnknownWord> {
                *self = value.parse()?;
                Ok(())
            }
        }
    )+};
}
word!(Phase, Outcome);

macro_rules! optional_word {
    ($($type:ty),+) => {$(
        impl Word for Option<$type> {
            fn get(&self) -> Option<&'static str> {
                self.map(<$type>::as_str)
            }
            fn set(&mut self, value: &str) -> Result<(), UnknownWord> {
                *self = Some(value.parse()?);
                Ok(())
            }
        }
    )+};
}
optional_word!(Stamp, TokenSource);
