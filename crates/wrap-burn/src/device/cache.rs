//! Where things are kept that can be made again.

use std::ffi::OsString;
use std::path::PathBuf;

/// The folder for what can be made again, such as tuned and compiled kernels: the environment
/// variable `PYBURN_CACHE_DIR`, or else `pyburn` in the user's cache folder (`$XDG_CACHE_HOME` or
/// `~/.cache`, `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows). `None` where there is no
/// such folder. It may not exist yet.
///
/// ```
/// assert!(wrap_burn::device::cache_folder().is_none_or(|folder| folder.is_absolute()));
/// ```
pub fn cache_folder() -> Option<PathBuf> {
    folder(std::env::consts::OS, |name| std::env::var_os(name))
}

fn folder(os: &str, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A relative folder would be another one in each working directory; XDG says to ignore it.
    let named = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(chosen) = named("PYBURN_CACHE_DIR") {
        return Some(chosen);
    }
    let base = match os {
        "windows" => named("LOCALAPPDATA")?,
        "macos" => named("HOME")?.join("Library").join("Caches"),
        _ => match named("XDG_CACHE_HOME") {
            Some(base) => base,
            None => named("HOME")?.join(".cache"),
        },
    };
    Some(base.join("pyburn"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::Path;

    use super::folder;

    fn with(os: &str, variables: &[(&str, &str)]) -> Option<String> {
        let found = |name: &str| {
            let (_, value) = variables.iter().find(|(known, _)| *known == name)?;
            Some(value.into())
        };
        folder(os, found).map(|path| Path::new(&path).display().to_string())
    }

    #[test]
    fn users_folder_of_each_system() {
        let home = ("HOME", "/home/me");
        assert_eq!(with("linux", &[home]).unwrap(), "/home/me/.cache/pyburn");
        assert_eq!(with("linux", &[home, ("XDG_CACHE_HOME", "/c")]).unwrap(), "/c/pyburn");
        assert_eq!(
            with("linux", &[home, ("XDG_CACHE_HOME", "c")]).unwrap(),
            "/home/me/.cache/pyburn"
        );
        assert_eq!(with("macos", &[home]).unwrap(), "/home/me/Library/Caches/pyburn");
        assert_eq!(with("windows", &[("LOCALAPPDATA", "/local")]).unwrap(), "/local/pyburn");
        assert_eq!(with("linux", &[]), None);
    }

    #[test]
    fn own_folder_wins() {
        let chosen = [("HOME", "/home/me"), ("PYBURN_CACHE_DIR", "/elsewhere")];
        assert_eq!(with("linux", &chosen).unwrap(), "/elsewhere");
    }
}
