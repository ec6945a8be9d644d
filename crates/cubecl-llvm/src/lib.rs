//! Stands in for `cubecl-llvm`, whose build fetches LLVM.
//!
//! `cubecl-cuda` has two ways to compile a kernel, CUDA C++ and LLVM, and names the types of both
//! whichever it uses. These are the names, without the compiler: PyBurn builds with CUDA C++, so
//! none of the methods that would compile is reached.

use cubecl_ir::attributes::BufferIOAttr;
use cubecl_ir::nvidia::SmArch;
use cubecl_runtime::compiler::CompilationError;
use cubecl_runtime::kernel::KernelDefinition;

use crate::nvptx::ptx_version::PtxVersion;

/// What kernels are compiled to.
#[derive(Clone, Copy, Debug)]
pub enum LlvmTarget {
    /// NVIDIA's assembly.
    Nvptx,
}

/// The compiler that is not here.
#[derive(Clone, Debug)]
pub struct PlironCompiler {
    /// What kernels are compiled to.
    pub target: LlvmTarget,
}

impl PlironCompiler {
    /// Says that this build has no LLVM.
    pub fn compile(
        &mut self,
        _kernel: KernelDefinition,
        _options: &PlironOptions,
    ) -> Result<PlironArtifact, CompilationError> {
        Err(CompilationError::Generic {
            reason: "this build compiles kernels as CUDA C++ and has no LLVM".into(),
            backtrace: Default::default(),
        })
    }

    /// The name of the target's language.
    pub fn lang_tag(&self) -> &'static str {
        match self.target {
            LlvmTarget::Nvptx => "ptx",
        }
    }
}

/// How a kernel is compiled.
#[derive(Clone, Debug, Default)]
pub struct PlironOptions {
    /// The host's processor.
    pub arch: Option<&'static str>,
    /// The device's generation.
    pub sm_arch: Option<SmArch>,
    /// The assembly's version.
    pub ptx_version: Option<PtxVersion>,
    /// Whether launch parameters are constants of the grid.
    pub grid_constants: bool,
}

/// A compiled kernel. None is ever made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PlironArtifact {
    /// For NVIDIA.
    NvptxCode(NvptxModule),
}

/// NVIDIA's assembly for one kernel.
#[derive(Clone, Debug)]
pub struct NvptxModule {
    /// The source it was made from.
    pub ir: String,
    /// The assembly, ending in a zero.
    pub ptx: Vec<std::ffi::c_char>,
    /// Shared memory a launch reserves, in bytes.
    pub shared_memory_size: usize,
    /// Which buffers it reads and writes.
    pub io: Vec<BufferIOAttr>,
}

/// NVIDIA's part.
pub mod nvptx {
    /// Versions of the assembly.
    pub mod ptx_version {
        /// The version of the assembly a driver loads.
        #[derive(Clone, Copy, Debug)]
        pub struct PtxVersion(());

        impl PtxVersion {
            /// None: there is nothing that would write assembly.
            pub fn for_driver(_version: i32) -> Option<Self> {
                None
            }
        }

        impl std::fmt::Display for PtxVersion {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("none")
            }
        }
    }
}

/// What all targets have in common.
pub mod shared {
    /// What the compiler can lower.
    pub mod lowered_features {
        use cubecl_ir::DeviceProperties;

        /// Which GPU.
        #[derive(Clone, Copy, Debug)]
        pub enum GpuTarget {
            /// NVIDIA's.
            Nvptx,
        }

        /// Takes back nothing: only called where LLVM compiles.
        pub fn restrict_features(_properties: &mut DeviceProperties, _target: GpuTarget) {}
    }
}
