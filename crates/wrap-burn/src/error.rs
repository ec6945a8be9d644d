//! Errors: one kind per Python exception class, one message that names the op and the remedy.

use std::fmt;

/// Which class of fault; the binding maps each to the Python exception PyTorch raises there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// An argument of the wrong type (`TypeError`).
    Type,
    /// An argument of the right type with an impossible value (`ValueError`).
    Value,
    /// A dimension or an index out of range (`IndexError`).
    Index,
    /// Shapes, dtypes or devices that do not fit together (`RuntimeError`).
    Runtime,
    /// Something this library leaves out, by name and with a reason (`NotImplementedError`).
    Unsupported,
    /// Integer division by zero (`ZeroDivisionError`).
    ZeroDivision,
    /// A matrix without the property an algorithm needs (`LinAlgError`).
    LinAlg,
    /// A device that is missing, has no driver or is lost (`DeviceError`).
    Device,
    /// A device or the host has no memory left (`OutOfMemoryError`).
    OutOfMemory,
}

/// What went wrong, in words for the user: `op: what was expected, what came; hint`.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    /// An error of the given kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Which class of fault.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The words for the user.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same error with a place in front: `place: message`.
    pub fn within(self, place: impl fmt::Display) -> Self {
        Self { kind: self.kind, message: format!("{place}: {}", self.message) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<kernels::Error> for Error {
    fn from(error: kernels::Error) -> Self {
        let kind = match &error {
            kernels::Error::Index { .. } => ErrorKind::Index,
            kernels::Error::Singular { .. }
            | kernels::Error::NotPositiveDefinite { .. }
            | kernels::Error::NoConvergence { .. } => ErrorKind::LinAlg,
            kernels::Error::Value(message) if message.contains("division by zero") => {
                ErrorKind::ZeroDivision
            }
            kernels::Error::Value(_) => ErrorKind::Runtime,
        };
        Self::new(kind, error.to_string())
    }
}

/// The result of everything that can go wrong.
pub type Result<T> = std::result::Result<T, Error>;

/// Builds an [`Error`]: `error!(Runtime, "add: {} and {}", a, b)`.
#[macro_export]
macro_rules! error {
    ($kind:ident, $($message:tt)*) => {
        $crate::Error::new($crate::ErrorKind::$kind, format!($($message)*))
    };
}

/// Returns early with an [`Error`]: `bail!(Index, "dimension {dim} is out of range")`.
#[macro_export]
macro_rules! bail {
    ($kind:ident, $($message:tt)*) => {
        return Err($crate::error!($kind, $($message)*))
    };
}
