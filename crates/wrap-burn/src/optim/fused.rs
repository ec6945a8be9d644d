//! Updates on the CPU: all parameters in one pass over memory.

use std::borrow::Cow;

use kernels::Element;
use kernels::optim::{Lane, Piece, Rule, sweep};
use parking_lot::RwLockReadGuard;
use rustc_hash::FxHashSet;

use super::{Slot, scalars};
use crate::op::cast_host;
use crate::value::{Storage, Value};
use crate::{DType, Result};

/// Updates parameters in host memory. They have been checked.
pub(super) fn step<R, const C: usize, const S: usize, const K: usize>(
    rule: &R,
    slots: &[&Slot],
) -> Result<()>
where
    R: Rule<f64, C, S, K> + Sync,
{
    let views: Vec<View<'_, S>> = slots.iter().map(|slot| View::new(slot)).collect();
    if are_apart(&views) {
        return together(rule, slots, &views, false);
    }
    // Parameters that may share elements are updated one after the other.
    slots.iter().zip(views).try_for_each(|(slot, view)| together(rule, &[*slot], &[view], true))
}

/// A slot's values, held so that nobody puts others in their place meanwhile.
struct View<'a, const S: usize> {
    param: RwLockReadGuard<'a, Value>,
    grad: RwLockReadGuard<'a, Value>,
    state: [RwLockReadGuard<'a, Value>; S],
}

impl<'a, const S: usize> View<'a, S> {
    fn new(slot: &'a Slot) -> Self {
        let state = std::array::from_fn(|s| slot.state[s].read());
        View { param: slot.param.read(), grad: slot.grad.read(), state }
    }

    /// What the update writes.
    fn written(&self) -> impl Iterator<Item = &Value> {
        std::iter::once(&*self.param).chain(self.state.iter().map(|state| &**state))
    }
}

/// A number that identifies a value's storage.
fn place(value: &Value) -> usize {
    match &value.storage {
        Storage::Host(buffer) => buffer.pointer() as usize,
        _ => unreachable!("the value is in host memory"),
    }
}

/// Whether no memory is written twice, and none that is read.
fn are_apart<const S: usize>(views: &[View<'_, S>]) -> bool {
    let mut places = FxHashSet::default();
    places.reserve(views.len() * (S + 1));
    let mut written = views.iter().flat_map(View::written).filter(|value| value.numel() > 0);
    written.all(|value| places.insert(place(value)))
        && !views.iter().any(|view| places.contains(&place(&view.grad)))
}

/// Operands of one slot as runs of memory: their own, or that of a copy.
struct Held<'a, const S: usize> {
    param: Cow<'a, Value>,
    grad: Cow<'a, Value>,
    state: [Cow<'a, Value>; S],
}

/// A value as row-major memory in the dtype that is computed in; a copy where it is not so, or where
/// others write the memory at the same time.
fn run_of<'a>(value: &'a Value, shared: bool) -> Result<Cow<'a, Value>> {
    let wide = value.dtype.widened();
    if wide != value.dtype {
        return cast_host(value, wide)?.contiguous().map(Cow::Owned);
    }
    Ok(match value.is_contiguous() && !shared {
        true => Cow::Borrowed(value),
        false => Cow::Owned(value.copied()?),
    })
}

/// Updates slots that do not write each other's memory; `shared` says that this one slot's own
/// operands may.
fn together<R, const C: usize, const S: usize, const K: usize>(
    rule: &R,
    slots: &[&Slot],
    views: &[View<'_, S>],
    shared: bool,
) -> Result<()>
where
    R: Rule<f64, C, S, K> + Sync,
{
    let mut held = Vec::with_capacity(views.len());
    for view in views {
        let mut state = Vec::with_capacity(S);
        for value in &view.state {
            state.push(run_of(value, shared)?);
        }
        let mut state = state.into_iter();
        held.push(Held {
            param: run_of(&view.param, shared)?,
            grad: run_of(&view.grad, shared)?,
            state: std::array::from_fn(|_| state.next().expect("there is one per state")),
        });
    }
    let (mut singles, mut doubles) = (Vec::new(), Vec::new());
    let mut last = None;
    for (slot, held) in slots.iter().zip(&held) {
        let old = scalars::read(&slot.scalars)?;
        let (coefficients, new) = match last {
            // Most often all parameters have taken equally many steps.
            Some((same, fresh, coefficients, new)) if (same, fresh) == (old, slot.fresh) => {
                (coefficients, new)
            }
            _ => rule.coefficients(old, slot.fresh),
        };
        last = Some((old, slot.fresh, coefficients, new));
        scalars::write(&slot.scalars, new)?;
        match held.param.dtype.to_real() {
            DType::F32 => singles.push(held.piece::<f32, C>(coefficients)),
            _ => doubles.push(held.piece::<f64, C>(coefficients)),
        }
    }
    sweep(rule, singles);
    sweep(rule, doubles);
    for (view, held) in views.iter().zip(&held) {
        let runs = std::iter::once(&held.param).chain(&held.state);
        for (value, run) in view.written().zip(runs) {
            if let Cow::Owned(copy) = run {
                value.assign(&cast_host(copy, value.dtype)?)?;
            }
            value.bump_version();
        }
    }
    Ok(())
}

impl<const S: usize> Held<'_, S> {
    /// The slot as slices; a complex number is two elements.
    fn piece<T: Lane + Element, const C: usize>(
        &self,
        coefficients: [f64; C],
    ) -> Piece<'_, T, C, S> {
        let len = self.param.numel() * (self.param.dtype.size() / size_of::<T>());
        let start = |value: &Value| -> *mut T {
            // The offset of nothing may lie anywhere.
            let offset = if len == 0 { 0 } else { value.offset * value.dtype.size() };
            match &value.storage {
                Storage::Host(buffer) if len > 0 => buffer.pointer().wrapping_add(offset).cast(),
                _ => std::ptr::NonNull::dangling().as_ptr(),
            }
        };
        // SAFETY: every value is a run of `len` elements. What is written belongs to nothing else
        // here: `are_apart` has seen that, or all of them are copies. Who else may look at tensors
        // while they are written, tensors say.
        unsafe {
            Piece {
                coefficients: coefficients.map(T::of),
                param: std::slice::from_raw_parts_mut(start(&self.param), len),
                grad: std::slice::from_raw_parts(start(&self.grad), len),
                state: std::array::from_fn(|s| {
                    std::slice::from_raw_parts_mut(start(&self.state[s]), len)
                }),
            }
        }
    }
}
