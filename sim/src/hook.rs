//! The panic hook: an engine that stops itself ends its run; a crash is not a failure to print.

use crate::scheduler::{Crash, Scheduler, here};
use crate::state::Ending;
use os::stop::StopPayload;
use std::any::Any;
use std::panic::PanicHookInfo;
use std::sync::Once;

/// Puts our hook before whatever was there, once per process.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !is_ours(panic) {
                before(panic);
            }
        }));
    });
}

/// Ends the run where that is what the panic means; true when nothing is to be printed.
fn is_ours(panic: &PanicHookInfo<'_>) -> bool {
    let payload = panic.payload();
    if payload.is::<Crash>() {
        return true;
    }
    let Some(task) = here() else { return payload.is::<StopPayload>() };
    if let Some(stopped) = payload.downcast_ref::<StopPayload>() {
        task.core.end_from_hook(&task, Ending::Stopped(stopped.reason.clone()));
        return true;
    }
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    if task.core.halted() {
        // Not news, except when it is the second panic of a thread and the process aborts.
        eprintln!("after the halt, at {place}: {}", text(payload));
        return true;
    }
    fail(&task, &place, payload);
    false
}

fn fail(task: &Scheduler, place: &str, payload: &(dyn Any + Send)) {
    if task.core.options.panics_fail {
        let what = format!("a task panicked at {place}: {}", text(payload));
        task.core.end_from_hook(task, Ending::Failed(what));
    }
}

/// The text of a panic payload.
pub(crate) fn text(payload: &(dyn Any + Send)) -> &str {
    if let Some(s) = payload.downcast_ref::<String>() {
        return s;
    }
    payload.downcast_ref::<&str>().copied().unwrap_or("a payload that is no text")
}
