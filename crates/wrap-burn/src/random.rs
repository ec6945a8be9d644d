//! Random numbers: generators, distributions, and tensors drawn from them.
//!
//! Every value is drawn on the CPU and then moved to the tensor's device, so one seed gives the
//! same values on every device. A generator's device is a label only: any generator serves tensors
//! of any device, and [`default_generator`] serves those for which none is named.

mod create;
mod fill;
mod law;
mod sample;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, OnceLock};

use kernels::random::Generator as Source;
use parking_lot::Mutex;

pub(crate) use law::Law;

use crate::Result;
use crate::device::Device;

/// The seed of a generator nobody has seeded, as in PyTorch.
const FIRST_SEED: u64 = 67_280_421_310_721;

/// A source of random numbers. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Generator {
    source: Arc<Mutex<Source>>,
    device: Device,
}

impl Generator {
    /// A generator that starts from a fixed seed.
    pub fn new(device: Device) -> Self {
        Self::with_seed(device, FIRST_SEED)
    }

    fn with_seed(device: Device, seed: u64) -> Self {
        Self { source: Arc::new(Mutex::new(Source::new(seed))), device }
    }

    /// The device it was made for; values are drawn on the CPU whatever it says.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Moves to the start of a seed's sequence.
    pub fn manual_seed(&self, seed: u64) {
        self.source.lock().set_seed(seed);
    }

    /// Seeds from the operating system and gives the new seed.
    pub fn seed(&self) -> u64 {
        let seed = fresh_seed();
        self.manual_seed(seed);
        seed
    }

    /// The seed of the sequence it is in.
    pub fn initial_seed(&self) -> u64 {
        self.source.lock().seed()
    }

    /// Everything needed to continue from here.
    pub fn get_state(&self) -> Vec<u8> {
        self.source.lock().state().to_vec()
    }

    /// Continues from where a state was taken.
    pub fn set_state(&self, state: &[u8]) -> Result<()> {
        Ok(self.source.lock().set_state(state)?)
    }

    /// Whether two handles are the same generator.
    pub fn is(&self, other: &Generator) -> bool {
        Arc::ptr_eq(&self.source, &other.source)
    }

    /// Draws without anybody else drawing in between.
    fn draw<R>(&self, draw: impl FnOnce(&mut Source) -> R) -> R {
        draw(&mut self.source.lock())
    }
}

/// A seed nobody can foresee, made of the keys that the operating system gives hash maps. It fits
/// into a double and into a signed integer.
fn fresh_seed() -> u64 {
    RandomState::new().build_hasher().finish() & ((1 << 53) - 1)
}

/// The generator that serves tensors of every device when none is named. It starts from a fresh
/// seed in every process.
pub fn default_generator() -> Generator {
    static DEFAULT: OnceLock<Generator> = OnceLock::new();
    DEFAULT.get_or_init(|| Generator::with_seed(Device::Cpu, fresh_seed())).clone()
}

/// Seeds the default generator; one seed gives the same values on every device.
pub fn manual_seed(seed: u64) {
    default_generator().manual_seed(seed);
}

/// Seeds the default generator from the operating system and gives the new seed.
pub fn seed() -> u64 {
    default_generator().seed()
}

/// The seed of the default generator's sequence.
pub fn initial_seed() -> u64 {
    default_generator().initial_seed()
}

/// The default generator's state.
pub fn get_state() -> Vec<u8> {
    default_generator().get_state()
}

/// Continues the default generator from where a state was taken.
pub fn set_state(state: &[u8]) -> Result<()> {
    default_generator().set_state(state)
}

/// The named generator or the default one.
fn or_default(generator: Option<&Generator>) -> Generator {
    generator.cloned().unwrap_or_else(default_generator)
}

/// What [`Tensor::random`](crate::Tensor::random) draws from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Floats uniform in `[0, 1)`, integers uniform in `0..255`, truth values by a fair coin.
    Default,
    /// Uniform from the first bound up to the second, which is excluded.
    Uniform(f64, f64),
    /// The normal distribution with a mean and a standard deviation; integers are cut towards zero.
    Normal(f64, f64),
    /// One with this probability and zero otherwise.
    Bernoulli(f64),
}

#[cfg(test)]
mod tests;
