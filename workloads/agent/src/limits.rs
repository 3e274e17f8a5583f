//! Resource limits (getrlimit(2)): a container gets them from its runtime, a guest has none of its own.

use std::collections::BTreeMap;

use nix::sys::resource::{getrlimit, rlim_t, setrlimit, Resource, RLIM_INFINITY};

/// Soft and hard limit; None is unlimited.
pub type Limit = (Option<u64>, Option<u64>);

/// Limits under their names in setrlimit(2), in small letters.
pub type Limits = BTreeMap<String, Limit>;

const RESOURCES: [(&str, Resource); 16] = [
    ("as", Resource::RLIMIT_AS),
    ("core", Resource::RLIMIT_CORE),
    ("cpu", Resource::RLIMIT_CPU),
    ("data", Resource::RLIMIT_DATA),
    ("fsize", Resource::RLIMIT_FSIZE),
    ("locks", Resource::RLIMIT_LOCKS),
    ("memlock", Resource::RLIMIT_MEMLOCK),
    ("msgqueue", Resource::RLIMIT_MSGQUEUE),
    ("nice", Resource::RLIMIT_NICE),
    ("nofile", Resource::RLIMIT_NOFILE),
    ("nproc", Resource::RLIMIT_NPROC),
    ("rss", Resource::RLIMIT_RSS),
    ("rtprio", Resource::RLIMIT_RTPRIO),
    ("rttime", Resource::RLIMIT_RTTIME),
    ("sigpending", Resource::RLIMIT_SIGPENDING),
    ("stack", Resource::RLIMIT_STACK),
];

/// The limits of this process.
pub fn of_this_process() -> Limits {
    let bounded = |value: rlim_t| (value != RLIM_INFINITY).then_some(value);
    RESOURCES
        .into_iter()
        .filter_map(|(name, resource)| {
            let (soft, hard) = getrlimit(resource).ok()?;
            Some((name.to_string(), (bounded(soft), bounded(hard))))
        })
        .collect()
}

/// The limits in the form that [`set`] takes, for use between fork and exec. Unknown names are left out.
pub fn prepared(limits: &Limits) -> Vec<(Resource, rlim_t, rlim_t)> {
    let value = |limit: Option<u64>| limit.unwrap_or(RLIM_INFINITY);
    RESOURCES
        .into_iter()
        .filter_map(|(name, resource)| {
            let (soft, hard) = limits.get(name)?;
            Some((resource, value(*soft), value(*hard)))
        })
        .collect()
}

/// Sets limits of this process. Makes only system calls.
pub fn set(limits: &[(Resource, rlim_t, rlim_t)]) -> nix::Result<()> {
    limits.iter().try_for_each(|(resource, soft, hard)| setrlimit(*resource, *soft, *hard))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_survive_being_written_down() {
        let limits = of_this_process();
        assert!(limits.contains_key("nofile"));
        let text = serde_json::to_string(&limits).unwrap();
        let read: Limits = serde_json::from_str(&text).unwrap();
        assert_eq!(read, limits);
        // Its own limits can be set by every process.
        assert_eq!(set(&prepared(&read)), Ok(()));
        assert_eq!(of_this_process(), limits);
    }

    #[test]
    fn absent_is_unlimited_and_unknown_names_are_left_out() {
        let limits = Limits::from([("core".into(), (Some(0), None)), ("gophers".into(), (Some(1), Some(1)))]);
        let prepared = prepared(&limits);
        assert_eq!(prepared.len(), 1);
        assert_eq!((prepared[0].1, prepared[0].2), (0, RLIM_INFINITY));
    }
}
