//! Confinement of the process that reads documents: no network, no files, no further processes, little memory and time.
//!
//! Limits hold everywhere; the filters need Linux. Each is applied as far as the kernel has it, and `phigate doctor`
//! says which.

use rustix::process::{Resource, Rlimit, setrlimit};

/// Memory of the process, in bytes.
pub(crate) const MEMORY: u64 = 512 << 20;

/// Processor time of the process, in seconds.
const SECONDS: u64 = 10;

/// Filters that hold the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Confined {
    /// System calls are filtered: reading, writing and memory alone are allowed.
    pub(crate) calls: bool,
    /// Files cannot be opened.
    pub(crate) files: bool,
}

impl Confined {
    /// Returns the names of the filters, as the kernel calls them.
    pub(crate) fn names(self) -> Vec<&'static str> {
        let all = [(self.calls, "seccomp"), (self.files, "landlock")];
        all.iter()
            .filter(|(holds, _)| *holds)
            .map(|(_, name)| *name)
            .collect()
    }
}

/// Confines this process for the rest of its life.
///
/// # Errors
///
/// A limit cannot be set.
pub(crate) fn confine() -> std::io::Result<Confined> {
    let limit = |resource, most: u64| {
        let limits = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limits)
    };
    limit(Resource::Core, 0)?;
    limit(Resource::Data, MEMORY)?;
    // At the first limit the process gets a signal, at the second it is killed.
    let seconds = Rlimit {
        current: Some(SECONDS),
        maximum: Some(SECONDS + 1),
    };
    setrlimit(Resource::Cpu, seconds)?;
    let confined = filters();
    Ok(confined)
}

#[cfg(not(target_os = "linux"))]
fn filters() -> Confined {
    Confined::default()
}

#[cfg(target_os = "linux")]
fn filters() -> Confined {
    // The kernel kills this process when the thread that started it is gone. Failing that, its input ends.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let files = landlock_all().unwrap_or(false);
    Confined {
        calls: filter_calls().is_some(),
        files,
    }
}

/// Forbids every access to files and networks that the kernel can forbid.
#[cfg(target_os = "linux")]
fn landlock_all() -> Result<bool, landlock::RulesetError> {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
        RulesetStatus,
    };
    let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let rules = rules.handle_access(AccessFs::from_all(ABI::V5))?;
    let rules = rules.handle_access(AccessNet::from_all(ABI::V5))?;
    let status = rules.create()?.restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

/// Allows the system calls of a program that reads, computes and writes. Every other one fails.
#[cfg(target_os = "linux")]
fn filter_calls() -> Option<()> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
    const ALLOWED: &[libc::c_long] = &[
        libc::SYS_brk,
        libc::SYS_clock_gettime,
        libc::SYS_close,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_futex,
        libc::SYS_getpid,
        libc::SYS_getrandom,
        libc::SYS_gettid,
        libc::SYS_madvise,
        libc::SYS_mmap,
        libc::SYS_mprotect,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_read,
        libc::SYS_restart_syscall,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_yield,
        libc::SYS_sigaltstack,
        libc::SYS_tgkill,
        libc::SYS_write,
        libc::SYS_writev,
    ];
    #[expect(
        clippy::useless_conversion,
        reason = "the numbers have another type on 32 bits"
    )]
    let rules = ALLOWED.iter().map(|call| (i64::from(*call), Vec::new()));
    let filter = SeccompFilter::new(
        rules.collect(),
        SeccompAction::Errno(rustix::io::Errno::PERM.raw_os_error().unsigned_abs()),
        SeccompAction::Allow,
        std::env::consts::ARCH.try_into().ok()?,
    );
    let program: BpfProgram = filter.ok()?.try_into().ok()?;
    apply_filter(&program).ok()
}
