//! Certification authorities that live as long as a test. OpenSSL makes what OpenSSL's users have.

use std::path::{Path, PathBuf};
use std::process::Command;

/// An authority with a key of its own.
pub struct Authority {
    folder: tempfile::TempDir,
}

/// A certificate with its key.
#[derive(Clone)]
pub struct Certificate {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// When a certificate is valid.
#[derive(Clone, Copy)]
pub enum Validity {
    Now,
    /// In January of 2020.
    Past,
}

const KEY: [&str; 6] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-batch"];

impl Authority {
    pub fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let authority = Authority { folder };
        let config = format!(
            "[ca]\ndefault_ca = own\n[own]\ndir = {}\n\
             database = $dir/index\nnew_certs_dir = $dir\nrand_serial = yes\ncertificate = $dir/ca.crt\n\
             private_key = $dir/ca.key\ndefault_md = sha256\nunique_subject = no\npolicy = any\n\
             [any]\ncommonName = supplied\n\
             [req]\ndistinguished_name = names\nx509_extensions = authority\n[names]\n\
             [authority]\nbasicConstraints = critical, CA:TRUE\n",
            authority.folder.path().display()
        );
        std::fs::write(authority.path("config"), config).unwrap();
        std::fs::write(authority.path("index"), "").unwrap();
        let own = authority.own();
        authority.openssl(
            &["req", "-x509", "-days", "2", "-subj", &format!("/CN={name}"), "-config", "config"],
            &own,
        );
        authority
    }

    /// The file of its certificate.
    pub fn file(&self) -> PathBuf {
        self.own().certificate
    }

    /// Its own certificate, as a server has it that is its own authority.
    pub fn own(&self) -> Certificate {
        Certificate { certificate: self.path("ca.crt"), key: self.path("ca.key") }
    }

    /// A server's certificate for a DNS name.
    pub fn issue(&self, name: &str, host: &str, validity: Validity) -> Certificate {
        let request =
            Certificate { certificate: self.path("request"), key: self.path(&format!("{name}.key")) };
        self.openssl(&["req", "-new", "-subj", "/CN=server", "-config", "config"], &request);
        std::fs::write(self.path("extensions"), format!("subjectAltName = DNS:{host}\n")).unwrap();
        let dates = match validity {
            Validity::Now => ["-days", "2"].as_slice(),
            Validity::Past => &["-startdate", "20200101000000Z", "-enddate", "20200201000000Z"],
        };
        let certificate = self.path(&format!("{name}.crt"));
        let arguments =
            ["ca", "-batch", "-notext", "-config", "config", "-extfile", "extensions", "-in", "request"];
        self.run(Command::new("openssl").args(arguments).args(dates).arg("-out").arg(&certificate));
        Certificate { certificate, key: request.key }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a key, and what is asked for with it.
    fn openssl(&self, arguments: &[&str], made: &Certificate) {
        let mut command = Command::new("openssl");
        command.args(arguments).args(KEY).arg("-keyout").arg(&made.key).arg("-out").arg(&made.certificate);
        self.run(&mut command);
    }

    fn run(&self, command: &mut Command) {
        let output = command.current_dir(self.folder.path()).output().expect("openssl runs");
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Certificate {
    /// The files under their names below this folder.
    pub fn copy_to(&self, folder: &Path) -> Certificate {
        let copy = |file: &PathBuf| {
            let place = folder.join(file.file_name().expect("a file"));
            std::fs::copy(file, &place).expect("a copy");
            place
        };
        Certificate { certificate: copy(&self.certificate), key: copy(&self.key) }
    }
}
