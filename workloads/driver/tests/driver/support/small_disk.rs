//! A file system that is soon full.

use std::ffi::CString;
use std::path::{Path, PathBuf};

/// A mounted tmpfs of few megabytes. Mounting needs root, as which the project's tests run.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    pub fn mount(folder: &Path, megabytes: u32) -> Self {
        std::fs::create_dir_all(folder).expect("a folder to mount on");
        let target = CString::new(folder.as_os_str().as_encoded_bytes()).unwrap();
        let options = CString::new(format!("size={megabytes}m,mode=0777")).unwrap();
        // SAFETY: all strings end with a zero byte and outlive the call.
        let mounted = unsafe {
            libc::mount(c"tmpfs".as_ptr(), target.as_ptr(), c"tmpfs".as_ptr(), 0, options.as_ptr().cast())
        };
        let error = std::io::Error::last_os_error();
        assert_eq!(mounted, 0, "mounting a small file system (run the tests as root): {error}");
        SmallDisk(folder.to_path_buf())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let target = CString::new(self.0.as_os_str().as_encoded_bytes()).unwrap();
        // SAFETY: the string ends with a zero byte. What a server still has open goes when it ends.
        unsafe { libc::umount2(target.as_ptr(), libc::MNT_DETACH) };
    }
}
