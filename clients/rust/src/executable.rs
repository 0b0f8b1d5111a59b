use std::{env, path::PathBuf};

#[cfg(not(feature = "embed"))]
use crate::Error;
use crate::Result;

const NAME: &str = if cfg!(windows) { "fakeapi.exe" } else { "fakeapi" };

/// Finds the command fakeapi: `FAKEAPI_BINARY`, the one that the feature `embed` carries, or the
/// one in `PATH`.
pub fn find_binary() -> Result<PathBuf> {
    if let Some(named) = env::var_os("FAKEAPI_BINARY").filter(|name| !name.is_empty()) {
        return Ok(named.into());
    }
    #[cfg(feature = "embed")]
    return carried::extract();
    #[cfg(not(feature = "embed"))]
    env::split_paths(&env::var_os("PATH").unwrap_or_default()).map(|dir| dir.join(NAME)).find(|file| file.is_file()).ok_or_else(|| {
        Error::new(
            "there is no command fakeapi: set FAKEAPI_BINARY, use the feature embed, or install it with \
             go install github.com/kubefake/kubefake/cmd/fakeapi@latest and put it in PATH",
        )
    })
}

#[cfg(feature = "embed")]
mod carried {
    use std::{
        collections::hash_map::DefaultHasher,
        fs::{self, File},
        hash::{Hash, Hasher},
        io::Write,
        process,
    };

    use super::*;
    use crate::embedded::PARTS;

    /// Writes the executable to the user's cache directory, once.
    pub fn extract() -> Result<PathBuf> {
        // The first page of an executable of Go has the ID of its build.
        let mut hash = DefaultHasher::new();
        (PARTS.map(<[u8]>::len), &PARTS[0][..4096.min(PARTS[0].len())]).hash(&mut hash);
        let dir = cache().join("kubefake").join(format!("{:016x}", hash.finish()));
        let file = dir.join(NAME);
        if !file.exists() {
            fs::create_dir_all(&dir)?;
            let part = dir.join(format!("part-{}", process::id()));
            let mut out = File::create(&part)?;
            PARTS.iter().try_for_each(|part| out.write_all(part))?;
            #[cfg(unix)]
            out.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
            drop(out); // an executable that is open for writing does not start
            fs::rename(&part, &file)?;
        }
        Ok(file)
    }

    fn cache() -> PathBuf {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache"))).or_else(|| set("LOCALAPPDATA")).unwrap_or_else(env::temp_dir)
    }
}
