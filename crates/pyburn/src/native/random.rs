//! Random numbers: generators and what is drawn from them.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use wrap_burn::Tensor;
use wrap_burn::random::{self, Generator};

use super::Sizes;
use crate::args::{Op, T};
use crate::boundary::to_py;
use crate::dtype::{DTypeArg, DeviceArg, PyDevice};

/// A source of random numbers; the Python package's ``Generator`` holds one.
#[pyclass(name = "Generator", module = "pyburn._core", frozen)]
pub(super) struct PyGenerator(Generator);

#[pymethods]
impl PyGenerator {
    #[new]
    fn new(device: DeviceArg) -> Self {
        PyGenerator(Generator::new(device.0))
    }

    /// The device it was made for.
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.0.device())
    }

    /// Moves to the start of a seed's sequence.
    fn manual_seed(&self, seed: u64) {
        self.0.manual_seed(seed);
    }

    /// Seeds from the operating system and gives the new seed.
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    /// The seed of the sequence it is in.
    fn initial_seed(&self) -> u64 {
        self.0.initial_seed()
    }

    /// Everything needed to continue from here.
    fn get_state<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.get_state())
    }

    /// Continues from where a state was taken.
    fn set_state(&self, state: &[u8]) -> PyResult<()> {
        self.0.set_state(state).map_err(to_py)
    }
}

/// A generator argument; ``None`` is the default one.
pub(super) struct Source(Generator);

impl<'a, 'py> FromPyObject<'a, 'py> for Source {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(Source(object.cast::<PyGenerator>()?.get().0.clone()))
    }
}

fn source(argument: &Option<Source>) -> Option<&Generator> {
    argument.as_ref().map(|source| &source.0)
}

/// The generator that is drawn from where none is named.
#[pyfunction]
pub(super) fn default_generator() -> PyGenerator {
    PyGenerator(random::default_generator())
}

native! {
    fn uniform_(input, low: f64, high: f64, generator: Option<Source>) => input.uniform_(low, high, source(&generator));
    fn normal_(input, mean: f64, std: f64, generator: Option<Source>) => input.normal_(mean, std, source(&generator));
    fn random_(input, low: i64, high: Option<i64>, generator: Option<Source>) => input.random_(low, high, source(&generator));
    fn bernoulli_(input, p: f64, generator: Option<Source>) => input.bernoulli_(p, source(&generator));
    fn bernoulli_from_(input, p: T, generator: Option<Source>) => input.bernoulli_from_(&p.0, source(&generator));
    fn exponential_(input, rate: f64, generator: Option<Source>) => input.exponential_(rate, source(&generator));
    fn geometric_(input, p: f64, generator: Option<Source>) => input.geometric_(p, source(&generator));
    fn cauchy_(input, median: f64, sigma: f64, generator: Option<Source>) => input.cauchy_(median, sigma, source(&generator));
    fn log_normal_(input, mean: f64, std: f64, generator: Option<Source>) => input.log_normal_(mean, std, source(&generator));
    fn trunc_normal_(input, mean: f64, std: f64, low: f64, high: f64, generator: Option<Source>) =>
        input.trunc_normal_(mean, std, low, high, source(&generator));
    fn bernoulli(input, generator: Option<Source>) => input.bernoulli(source(&generator));
    fn bernoulli_like(input, p: f64, generator: Option<Source>) => input.bernoulli_like(p, source(&generator));
    fn multinomial(input, samples: usize, replacement: bool, generator: Option<Source>) =>
        input.multinomial(samples, replacement, source(&generator));
    fn poisson(input, generator: Option<Source>) => input.poisson(source(&generator));
    fn binomial(input, prob: T, generator: Option<Source>) => input.binomial(&prob.0, source(&generator));
    fn standard_gamma(input, generator: Option<Source>) => input.standard_gamma(source(&generator));
    fn standard_gamma_grad(input, numbers: T) => input.standard_gamma_grad(&numbers.0);
    fn dropout(input, p: f64, train: bool, generator: Option<Source>) => input.dropout(p, train, source(&generator));
}

native_free! {
    fn normal(mean: Op, std: Op, generator: Option<Source>) => Tensor::normal(&mean.0, &std.0, source(&generator));
    fn normal_with(mean: f64, std: f64, size: Sizes, dtype: DTypeArg, device: DeviceArg, generator: Option<Source>) =>
        Tensor::normal_with(mean, std, &size.0, dtype.0, device.0, source(&generator));
    fn rand(size: Sizes, dtype: DTypeArg, device: DeviceArg, generator: Option<Source>) =>
        Tensor::rand(&size.0, dtype.0, device.0, source(&generator));
    fn randn(size: Sizes, dtype: DTypeArg, device: DeviceArg, generator: Option<Source>) =>
        Tensor::randn(&size.0, dtype.0, device.0, source(&generator));
    fn randint(low: i64, high: i64, size: Sizes, dtype: DTypeArg, device: DeviceArg, generator: Option<Source>) =>
        Tensor::randint(low, high, &size.0, dtype.0, device.0, source(&generator));
    fn randperm(n: usize, dtype: DTypeArg, device: DeviceArg, generator: Option<Source>) =>
        Tensor::randperm(n, dtype.0, device.0, source(&generator));
}
