//! Devices: names, what is there, memory held by burn.

mod cache;
mod memory;
mod probe;
pub(crate) mod tally;

use std::fmt;
use std::str::FromStr;

pub use cache::cache_folder;
pub use memory::DeviceMemory;
pub use probe::{
    BackendInfo, MemoryStats, backends, memory_stats, num_threads, require, set_num_threads,
    supports, synchronize,
};
pub(crate) use probe::{gpu_bool_store, gpu_device};
use serde::{Deserialize, Serialize};

use crate::{DType, Error, Result, bail};

/// Where a tensor lives and is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// The host: burn's CPU backend and our own kernels.
    Cpu,
    /// A GPU through wgpu: Vulkan, Metal, DirectX or WebGPU.
    Wgpu(u32),
    /// An NVIDIA GPU through CUDA.
    Cuda(u32),
    /// Nowhere: shapes and dtypes without data.
    Meta,
}

impl Device {
    /// The backend's name without an index.
    pub fn backend(self) -> &'static str {
        match self {
            Device::Cpu => "cpu",
            Device::Wgpu(_) => "wgpu",
            Device::Cuda(_) => "cuda",
            Device::Meta => "meta",
        }
    }

    /// Which of the backend's devices.
    pub fn index(self) -> Option<u32> {
        match self {
            Device::Wgpu(index) | Device::Cuda(index) => Some(index),
            Device::Cpu | Device::Meta => None,
        }
    }

    /// A GPU, whose tensors burn holds.
    pub fn is_gpu(self) -> bool {
        matches!(self, Device::Wgpu(_) | Device::Cuda(_))
    }

    /// The dtype that stands in for one the device lacks, when the user named none: `int64`
    /// becomes `int32` and `float64` becomes `float32` on adapters without 64-bit types.
    pub fn narrow(self, dtype: DType) -> DType {
        if !self.is_gpu() || supports(self, dtype) {
            return dtype;
        }
        match dtype {
            DType::I64 | DType::U8 | DType::I8 | DType::I16 => DType::I32,
            DType::F64 | DType::F16 | DType::BF16 => DType::F32,
            other => other,
        }
    }
}

/// Fails where a device lacks a dtype that was asked for by name.
pub(crate) fn check_dtype(op: &str, device: Device, dtype: DType) -> Result<()> {
    if supports(device, dtype) {
        return Ok(());
    }
    let instead = match device.narrow(dtype) {
        same if same == dtype => ".cpu()".to_string(),
        narrow => format!(".to({narrow})"),
    };
    bail!(
        Type,
        "{op}: {device} has no {dtype}, it has {}; hint: {instead} first",
        probe::supported_list(device)
    )
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index() {
            Some(index) => write!(f, "{}:{index}", self.backend()),
            None => f.write_str(self.backend()),
        }
    }
}

impl FromStr for Device {
    type Err = Error;

    /// Reads `cpu`, `wgpu`, `cuda:1`, ... in any case, with the older names as aliases.
    fn from_str(text: &str) -> Result<Self> {
        let lower = text.to_ascii_lowercase();
        let (name, index) = match lower.split_once(':') {
            None => (lower.as_str(), None),
            Some((name, digits)) => match digits.parse::<u32>() {
                Ok(index) => (name, Some(index)),
                Err(_) => bail!(
                    Runtime,
                    "device: invalid index in '{text}', expected a name such as 'cuda:0'"
                ),
            },
        };
        match (name, index) {
            ("cpu" | "ndarray" | "flex" | "ndarraydevice", None | Some(0)) => Ok(Device::Cpu),
            ("cpu" | "ndarray" | "flex", Some(index)) => {
                bail!(Runtime, "device: there is one CPU, so its index is 0, got {index}")
            }
            (
                "wgpu" | "vulkan" | "metal" | "webgpu" | "gpu" | "wgpudevice" | "fusionjitbackend",
                index,
            ) => Ok(Device::Wgpu(index.unwrap_or(0))),
            ("cuda", index) => Ok(Device::Cuda(index.unwrap_or(0))),
            ("meta", None | Some(0)) => Ok(Device::Meta),
            ("pytorch" | "libtorch" | "tch", _) => bail!(
                Device,
                "device: LibTorch is not part of PyBurn (it is larger than everything else together); \
                 expected one of cpu, wgpu, cuda"
            ),
            _ => bail!(
                Runtime,
                "device: expected one of cpu (= ndarray, flex), wgpu (= vulkan, metal, webgpu), cuda, \
                 meta, with an optional :index, got '{text}'"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_any_case() {
        assert_eq!("NdArray".parse::<Device>().unwrap(), Device::Cpu);
        assert_eq!("CUDA:2".parse::<Device>().unwrap(), Device::Cuda(2));
        assert_eq!("Vulkan".parse::<Device>().unwrap(), Device::Wgpu(0));
        assert_eq!(Device::Wgpu(1).to_string(), "wgpu:1");
        for wrong in ["", "gpu0", "cuda:x", "cpu:1", "tch"] {
            assert!(wrong.parse::<Device>().is_err(), "{wrong}");
        }
    }
}
