//! The limits of the process: a checker reads what others wrote.
use crate::native::EXIT_TIMEOUT;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Bounds memory, and takes what a checker never needs: files, cores.
pub fn apply(memory: u64) {
    set(libc::RLIMIT_AS, memory);
    set(libc::RLIMIT_CORE, 0);
    set(libc::RLIMIT_FSIZE, 0);
    set(libc::RLIMIT_NOFILE, 3);
}

fn set(what: libc::__rlimit_resource_t, most: u64) {
    if most == u64::MAX {
        return;
    }
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    if unsafe { libc::setrlimit(what, &limit) } != 0 {
        eprintln!("luau-check: a limit of the process could not be set: {}", std::io::Error::last_os_error());
    }
}

/// One heap for all threads: each of its own would reserve 64 MiB of the limit.
pub fn one_heap() {
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}

/// Ends the process when work is not done in time. Luau's own time limit is looked at in some loops only.
#[derive(Clone)]
pub struct Watchdog(Arc<(Mutex<Option<Instant>>, Condvar)>);

impl Watchdog {
    pub fn start() -> Watchdog {
        let dog = Watchdog(Arc::new((Mutex::new(None), Condvar::new())));
        let watched = dog.clone();
        std::thread::Builder::new().stack_size(64 << 10).spawn(move || watched.watch()).expect("a thread");
        dog
    }

    /// Does work that may take so long.
    pub fn within<R>(&self, limit: Duration, work: impl FnOnce() -> R) -> R {
        self.set(Some(Instant::now() + limit));
        let result = work();
        self.set(None);
        result
    }

    fn set(&self, deadline: Option<Instant>) {
        *self.0.0.lock().unwrap() = deadline;
        self.0.1.notify_one();
    }

    fn watch(&self) {
        let mut deadline = self.0.0.lock().unwrap();
        loop {
            deadline = match *deadline {
                None => self.0.1.wait(deadline).unwrap(),
                Some(at) => match at.checked_duration_since(Instant::now()) {
                    None => unsafe { libc::_exit(EXIT_TIMEOUT) },
                    Some(left) => self.0.1.wait_timeout(deadline, left).unwrap().0,
                },
            }
        }
    }
}
