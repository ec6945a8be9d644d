//! Updates on the CPU: all parameters in one pass over memory.

use std::ops::Range;

use kernels::Element;
use kernels::optim::{Lane, Piece, Rule, sweep};
use parking_lot::RwLockReadGuard;
use smallvec::SmallVec;

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

/// Where a value's elements lie: from which byte to which.
fn span(value: &Value) -> Range<usize> {
    let Storage::Host(buffer) = &value.storage else { return 0..0 };
    let (start, size) = (buffer.pointer() as usize, value.dtype.size());
    if !value.is_contiguous() {
        return start..start + buffer.len();
    }
    let first = start + value.offset * size;
    first..first + value.numel() * size
}

/// Whether no memory is written twice, and none that is read.
fn are_apart<const S: usize>(views: &[View<'_, S>]) -> bool {
    let mut spans = Vec::with_capacity(views.len() * (S + 2));
    for view in views.iter().filter(|view| view.param.numel() > 0) {
        spans.extend(view.written().map(|value| (span(value), true)));
        spans.push((span(&view.grad), false));
    }
    spans.sort_unstable_by_key(|(span, _)| span.start);
    // Where everything so far ends, and what of it is written.
    let (mut end, mut written_end) = (0, 0);
    spans.into_iter().all(|(span, written)| {
        let apart = span.start >= if written { end } else { written_end };
        end = end.max(span.end);
        if written {
            written_end = written_end.max(span.end);
        }
        apart
    })
}

/// An operand as a run of memory: its own, or that of a copy.
struct Run<'a> {
    value: &'a Value,
    copy: Option<Box<Value>>,
}

impl<'a> Run<'a> {
    /// A value as row-major memory in the dtype that is computed in; a copy where it is not so, or
    /// where others write the memory at the same time.
    fn new(value: &'a Value, shared: bool) -> Result<Self> {
        let wide = value.dtype.widened();
        let copy = if wide != value.dtype {
            Some(cast_host(value, wide)?.contiguous()?)
        } else if shared || !value.is_contiguous() {
            Some(value.copied()?)
        } else {
            None
        };
        Ok(Run { value, copy: copy.map(Box::new) })
    }

    fn get(&self) -> &Value {
        self.copy.as_deref().unwrap_or(self.value)
    }

    /// Puts what was written to a copy in its place, and notes the writing.
    fn finish(&self) -> Result<()> {
        if let Some(copy) = &self.copy {
            self.value.assign(&cast_host(copy, self.value.dtype)?)?;
        }
        self.value.bump_version();
        Ok(())
    }
}

/// Operands of one slot.
struct Held<'a, const S: usize> {
    param: Run<'a>,
    grad: Run<'a>,
    state: [Run<'a>; S],
}

impl<'a, const S: usize> Held<'a, S> {
    fn new(view: &'a View<'_, S>, shared: bool) -> Result<Self> {
        let mut runs = SmallVec::<[Run<'a>; 4]>::new();
        for value in &view.state {
            runs.push(Run::new(value, shared)?);
        }
        let mut runs = runs.into_iter();
        Ok(Held {
            param: Run::new(&view.param, shared)?,
            grad: Run::new(&view.grad, shared)?,
            state: std::array::from_fn(|_| runs.next().expect("there is one per state")),
        })
    }
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
    let held: Vec<Held<'_, S>> =
        views.iter().map(|view| Held::new(view, shared)).collect::<Result<_>>()?;
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
        match held.param.get().dtype.to_real() {
            DType::F32 => singles.push(held.piece::<f32, C>(coefficients)),
            _ => doubles.push(held.piece::<f64, C>(coefficients)),
        }
    }
    sweep(rule, singles);
    sweep(rule, doubles);
    for held in &held {
        held.param.finish()?;
        held.state.iter().try_for_each(Run::finish)?;
    }
    Ok(())
}

impl<const S: usize> Held<'_, S> {
    /// The slot as slices; a complex number is two elements.
    fn piece<T: Lane + Element, const C: usize>(
        &self,
        coefficients: [f64; C],
    ) -> Piece<'_, T, C, S> {
        let param = self.param.get();
        let len = param.numel() * (param.dtype.size() / size_of::<T>());
        let start = |run: &Run<'_>| -> *mut T {
            let value = run.get();
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
