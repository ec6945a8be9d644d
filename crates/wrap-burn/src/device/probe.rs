//! Which devices are there, and what they offer.

use burn_dispatch::DispatchDevice;
use burn_std::BoolStore;

use crate::device::{Device, tally};
use crate::{DType, Result, bail};

/// A backend, and whether it can be used here.
#[derive(Clone, Debug)]
pub struct BackendInfo {
    /// Its name.
    pub name: &'static str,
    /// What its devices call themselves; none if it cannot be used.
    pub devices: Vec<String>,
    /// Why it cannot be used.
    pub reason: Option<String>,
}

/// Memory of a device, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryStats {
    /// Held by tensors.
    pub in_use: u64,
    /// Taken from the system.
    pub reserved: u64,
    /// Number of live allocations.
    pub allocations: u64,
}

/// How many threads CPU kernels may use.
pub fn num_threads() -> usize {
    kernels::par::num_threads()
}

/// Lowers the number of threads CPU kernels may use.
pub fn set_num_threads(threads: usize) {
    kernels::par::set_num_threads(threads);
}

/// Every backend, with its devices or the reason why there are none.
pub fn backends() -> Vec<BackendInfo> {
    let cpu = format!("host, {} threads", kernels::par::num_threads());
    vec![
        BackendInfo { name: "cpu", devices: vec![cpu], reason: None },
        gpu::info("wgpu"),
        gpu::info("cuda"),
    ]
}

/// Fails unless a device can be used.
pub fn require(device: Device) -> Result<()> {
    if !device.is_gpu() {
        return Ok(());
    }
    gpu::device(device).map(drop)
}

/// Whether a device computes with a dtype.
pub fn supports(device: Device, dtype: DType) -> bool {
    match device {
        Device::Cpu | Device::Meta => true,
        _ => gpu::supports(device, dtype),
    }
}

/// The dtypes a GPU computes with, for messages.
pub(crate) fn supported_list(device: Device) -> String {
    let names: Vec<&str> =
        DType::ALL.iter().filter(|&&dtype| supports(device, dtype)).map(|d| d.name()).collect();
    names.join(", ")
}

/// How a GPU stores booleans.
pub(crate) fn gpu_bool_store(device: Device) -> BoolStore {
    gpu::bool_store(device)
}

/// burn's device for a GPU.
pub(crate) fn gpu_device(device: Device) -> Result<DispatchDevice> {
    gpu::device(device)
}

/// Waits until a device has done everything asked of it.
pub fn synchronize(device: Device) -> Result<()> {
    if !device.is_gpu() {
        return Ok(());
    }
    gpu::synchronize(device)
}

/// How much memory the tensors on a device hold.
pub fn memory_stats(device: Device) -> Result<MemoryStats> {
    match device {
        Device::Cpu => Ok(tally::total()),
        Device::Meta => Ok(MemoryStats::default()),
        Device::Wgpu(_) | Device::Cuda(_) => gpu::memory_stats(device),
    }
}

#[cfg(not(any(feature = "wgpu", feature = "cuda")))]
mod gpu {
    use super::*;

    fn missing(name: &str) -> String {
        format!(
            "this build has no {name}; hint: install a wheel with GPU support or build with --features {name}"
        )
    }

    pub(super) fn info(name: &'static str) -> BackendInfo {
        BackendInfo { name, devices: Vec::new(), reason: Some(missing(name)) }
    }

    pub(super) fn device(device: Device) -> Result<DispatchDevice> {
        bail!(Device, "{device}: {}", missing(device.backend()))
    }

    pub(super) fn supports(_device: Device, _dtype: DType) -> bool {
        false
    }

    pub(super) fn bool_store(_device: Device) -> BoolStore {
        BoolStore::U8
    }

    pub(super) fn synchronize(device: Device) -> Result<()> {
        self::device(device).map(drop)
    }

    pub(super) fn memory_stats(device: Device) -> Result<MemoryStats> {
        self::device(device).map(|_| MemoryStats::default())
    }
}

#[cfg(any(feature = "wgpu", feature = "cuda"))]
mod gpu {
    use std::sync::OnceLock;

    use burn_backend::{Backend, DeviceOps};
    use burn_dispatch::Dispatch;
    use burn_dispatch::devices::RuntimeId;
    use parking_lot::Mutex;
    use rustc_hash::FxHashMap;

    use super::super::cache_folder;
    use super::*;
    use crate::error;

    /// The adapters of a runtime, asked for once: each question wakes every driver.
    fn devices(name: &str) -> std::result::Result<&'static [DispatchDevice], String> {
        static WGPU: OnceLock<Vec<DispatchDevice>> = OnceLock::new();
        static CUDA: OnceLock<Vec<DispatchDevice>> = OnceLock::new();
        configure();
        let (slot, runtime, built) = match name {
            "wgpu" => (&WGPU, RuntimeId::Wgpu, cfg!(feature = "wgpu")),
            _ => (&CUDA, RuntimeId::Cuda, cfg!(feature = "cuda")),
        };
        if !built {
            return Err(format!("this build has no {name}; hint: build with --features {name}"));
        }
        let found = slot.get_or_init(|| {
            let mut found: Vec<DispatchDevice> = Vec::new();
            for device in Dispatch::enumerate_cube(runtime) {
                if !found.contains(&device) {
                    found.push(device);
                }
            }
            found
        });
        if found.is_empty() {
            return Err(match name {
                "wgpu" => "no adapter found; hint: install a Vulkan driver (on Debian and Ubuntu \
                           mesa-vulkan-drivers brings a software one)"
                    .into(),
                _ => "no NVIDIA driver or no card found".into(),
            });
        }
        #[cfg(feature = "cuda")]
        if name == "cuda" {
            // Kernels are compiled on the spot and need the toolkit's headers.
            let toolkit = cubecl::cuda::install::cuda_path();
            if !toolkit.is_some_and(|path| path.join("include").is_dir()) {
                return Err(
                    "the CUDA headers that kernels are compiled with were not found; hint: \
                            install the CUDA toolkit or set CUDA_PATH to it"
                        .into(),
                );
            }
        }
        Ok(found)
    }

    /// Sets cubecl up before it opens a device. What it tuned and compiled is kept in the user's
    /// cache folder, for each version of this crate apart, and it tries few kernels, so that the
    /// first call of a shape is short. Variables of the environment that begin with `CUBECL_` win;
    /// files in the working directory are not read, for they would make a program another one
    /// wherever it is started.
    fn configure() {
        use cubecl::config::autotune::AutotuneLevel;
        use cubecl::config::cache::CacheConfig;
        use cubecl::config::{CubeClRuntimeConfig, RuntimeConfig};
        static ONCE: OnceLock<()> = OnceLock::new();
        ONCE.get_or_init(|| {
            let mut config = CubeClRuntimeConfig::default();
            config.autotune.level = AutotuneLevel::Minimal;
            config.environment.name = concat!("kernels-", env!("CARGO_PKG_VERSION")).into();
            match cache_folder() {
                Some(folder) => {
                    config.environment.path = CacheConfig::Directory(folder);
                    config.compilation.cache = true;
                }
                None => config.autotune.disable_cache = true,
            }
            // Another part of the process may have configured cubecl already; its choice stands.
            CubeClRuntimeConfig::try_set(config.override_from_env());
        });
    }

    pub(super) fn info(name: &'static str) -> BackendInfo {
        match devices(name) {
            Ok(found) => BackendInfo {
                name,
                devices: found
                    .iter()
                    .map(|device| {
                        let open = std::panic::AssertUnwindSafe(|| device.identity());
                        match std::panic::catch_unwind(open) {
                            Ok(Some(identity)) => identity.name.to_string(),
                            Ok(None) => "unnamed".into(),
                            Err(_) => "could not be opened".into(),
                        }
                    })
                    .collect(),
                reason: None,
            },
            Err(reason) => BackendInfo { name, devices: Vec::new(), reason: Some(reason) },
        }
    }

    pub(super) fn device(device: Device) -> Result<DispatchDevice> {
        let found =
            devices(device.backend()).map_err(|reason| error!(Device, "{device}: {reason}"))?;
        let index = device.index().unwrap_or(0) as usize;
        match found.get(index) {
            Some(device) => Ok(device.clone()),
            None => bail!(
                Device,
                "{device}: invalid device index, there are {} {} devices",
                found.len(),
                device.backend()
            ),
        }
    }

    pub(super) fn supports(device: Device, dtype: DType) -> bool {
        static KNOWN: Mutex<Option<FxHashMap<(Device, DType), bool>>> = Mutex::new(None);
        if dtype == DType::Bool {
            return true;
        }
        if dtype.is_complex() {
            return false;
        }
        if let Some(&known) = KNOWN.lock().get_or_insert_default().get(&(device, dtype)) {
            return known;
        }
        let (Ok(target), Ok(burn)) =
            (self::device(device), crate::bridge::burn_dtype(dtype, device))
        else {
            return false;
        };
        let answer = Dispatch::supports_dtype(&target, burn);
        KNOWN.lock().get_or_insert_default().insert((device, dtype), answer);
        answer
    }

    pub(super) fn bool_store(device: Device) -> BoolStore {
        static KNOWN: Mutex<Option<FxHashMap<Device, BoolStore>>> = Mutex::new(None);
        if let Some(&known) = KNOWN.lock().get_or_insert_default().get(&device) {
            return known;
        }
        let Ok(target) = self::device(device) else { return BoolStore::U8 };
        let store = match target.defaults().bool_dtype {
            burn_std::BoolDType::U32 => BoolStore::U32,
            burn_std::BoolDType::U8 => BoolStore::U8,
            _ => BoolStore::Native,
        };
        KNOWN.lock().get_or_insert_default().insert(device, store);
        store
    }

    pub(super) fn synchronize(device: Device) -> Result<()> {
        Dispatch::sync(&self::device(device)?)
            .map_err(|fault| error!(Device, "{device}: {}", fault.reason()))
    }

    pub(super) fn memory_stats(device: Device) -> Result<MemoryStats> {
        let usage = Dispatch::memory_pool_usage(&self::device(device)?);
        Ok(usage.map_or_else(MemoryStats::default, |usage| MemoryStats {
            in_use: usage.bytes_in_use,
            reserved: usage.bytes_reserved,
            allocations: usage.number_allocs,
        }))
    }
}
