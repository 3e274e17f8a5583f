//! From errors of MySQL and MariaDB to those of the driver.

use mysql_async::{DriverError, Error, IoError, ServerError};

use crate::engine::{EngineError, ErrorKind};

/// An error while connecting: everything that time may heal is [`ErrorKind::NotReady`].
pub fn of_connecting(error: &Error) -> EngineError {
    match error {
        Error::Server(server) => {
            let mut found = of_server(server);
            if server.code == 1049 {
                found.kind = ErrorKind::Rejected;
            }
            if found.kind == ErrorKind::Authentication && server.message.contains("using password: NO") {
                found.message.push_str("; none was given (--password-file or DBBENCH_PASSWORD)");
            }
            found
        }
        Error::Io(IoError::Io(io)) => EngineError::new(ErrorKind::NotReady, "connect", io.to_string()),
        Error::Driver(DriverError::ConnectionClosed) => {
            EngineError::new(ErrorKind::NotReady, "connect", "the server closed the connection")
        }
        Error::Driver(
            cause @ (DriverError::UnknownAuthPlugin { .. }
            | DriverError::MysqlOldPasswordDisabled
            | DriverError::CleartextPluginDisabled),
        ) => EngineError::new(
            ErrorKind::Authentication,
            "connect",
            format!(
                "{cause} The driver knows mysql_native_password and caching_sha2_password: give its user one of them"
            ),
        ),
        other => EngineError::new(ErrorKind::Rejected, "connect", plain(other)),
    }
}

/// An error of a statement on an open connection.
pub fn of_statement(error: &Error) -> EngineError {
    match error {
        Error::Server(server) => of_server(server),
        Error::Io(_) | Error::Driver(DriverError::ConnectionClosed) => EngineError::new(
            ErrorKind::ConnectionLost,
            "connection",
            format!("the connection broke: {}", plain(error)),
        ),
        other => EngineError::new(ErrorKind::Other, "driver", plain(other)),
    }
}

fn plain(error: &Error) -> String {
    match error {
        Error::Io(IoError::Io(io)) => io.to_string(),
        Error::Driver(driver) => driver.to_string(),
        other => other.to_string(),
    }
}

fn of_server(server: &ServerError) -> EngineError {
    let ServerError { code, message, state } = server;
    // HY000 is what the servers say when they have no SQLSTATE for an error.
    let class = if state == "HY000" { code.to_string() } else { state.clone() };
    let mut text = format!("{message} (error {code}, SQLSTATE {state})");
    if LOCAL_INFILE_OFF.contains(code) {
        text.push_str(
            "; the load needs the setting local_infile: SET GLOBAL local_infile = 1, or local-infile=1 in the \
             server's configuration",
        );
    }
    EngineError::new(kind_of(*code, message), class, text)
}

/// LOAD DATA LOCAL is not allowed: older servers, MySQL from 8.0 on, MariaDB from 10.5 on.
const LOCAL_INFILE_OFF: [u16; 3] = [1148, 3948, 4166];

fn kind_of(code: u16, message: &str) -> ErrorKind {
    match code {
        // 1020: the row has changed since the snapshot (MariaDB, innodb_snapshot_isolation)
        1213 | 1020 => ErrorKind::Conflict,
        1205 => ErrorKind::Locked,
        1061 | 1826 => ErrorKind::Exists,
        1062 | 1586 => ErrorKind::Duplicate,
        1216 | 1217 | 1451 | 1452 => ErrorKind::ForeignKey,
        1045 | 1251 | 1698 | 1820 | 1862 | 3118 => ErrorKind::Authentication,
        1129 | 1130 | 3159 => ErrorKind::Rejected,
        1044 | 1142 | 1143 | 1227 | 1290 | 1370 => ErrorKind::Permission,
        code if LOCAL_INFILE_OFF.contains(&code) => ErrorKind::Permission,
        1046 | 1049 | 1051 | 1054 | 1109 | 1146 => ErrorKind::MissingObject,
        1021 | 1037 | 1041 | 1114 => ErrorKind::OutOfSpace,
        // Errors of files carry the system's own number: 28 is a full disk.
        3 | 1026 | 1030 if message.contains("rror 28 ") || message.contains("rrcode: 28 ") => {
            ErrorKind::OutOfSpace
        }
        1969 | 3024 => ErrorKind::Timeout,
        1040 | 1203 | 1226 => ErrorKind::NotReady,
        1053 | 1152 | 1158..=1161 | 1184 | 1927 | 4031 => ErrorKind::ConnectionLost,
        _ => ErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(code: u16, state: &str, message: &str) -> EngineError {
        of_server(&ServerError { code, state: state.into(), message: message.into() })
    }

    #[test]
    fn error_numbers_decide_whether_a_transaction_may_be_tried_again() {
        assert_eq!(server(1213, "40001", "Deadlock found").kind, ErrorKind::Conflict);
        assert_eq!(server(1205, "HY000", "Lock wait timeout exceeded").kind, ErrorKind::Locked);
        assert_eq!(server(1062, "23000", "Duplicate entry").kind, ErrorKind::Duplicate);
        assert_eq!(server(1452, "23000", "a foreign key constraint fails").kind, ErrorKind::ForeignKey);
        assert_eq!(server(1061, "42000", "Duplicate key name").kind, ErrorKind::Exists);
        assert_eq!(server(1826, "HY000", "Duplicate FOREIGN KEY constraint name").kind, ErrorKind::Exists);
        assert_eq!(server(1365, "22012", "Division by 0").kind, ErrorKind::Other);
    }

    #[test]
    fn the_class_is_the_sqlstate_where_there_is_one_and_else_the_number() {
        assert_eq!(server(1213, "40001", "x").class, "40001");
        assert_eq!(server(1205, "HY000", "x").class, "1205");
        assert!(server(1205, "HY000", "x").message.contains("error 1205"));
    }

    #[test]
    fn a_full_disk_is_told_from_other_trouble_with_files() {
        let full = "Got error 28 \"No space left on device\" from storage engine InnoDB";
        assert_eq!(server(1030, "HY000", full).kind, ErrorKind::OutOfSpace);
        assert_eq!(server(1030, "HY000", "Got error 122 from storage engine").kind, ErrorKind::Other);
        let file = "Error writing file '/tmp/x' (Errcode: 28 \"No space left on device\")";
        assert_eq!(server(3, "HY000", file).kind, ErrorKind::OutOfSpace);
    }

    #[test]
    fn a_server_that_forbids_local_files_is_told_which_setting_to_change() {
        for code in LOCAL_INFILE_OFF {
            let error = server(code, "42000", "The used command is not allowed");
            assert_eq!(error.kind, ErrorKind::Permission);
            assert!(error.message.contains("local_infile"));
        }
    }

    #[test]
    fn a_missing_database_is_final_while_connecting_and_a_missing_object_later() {
        let error = Error::Server(ServerError {
            code: 1049,
            state: "42000".into(),
            message: "Unknown database 'x'".into(),
        });
        assert_eq!(of_connecting(&error).kind, ErrorKind::Rejected);
        assert_eq!(of_statement(&error).kind, ErrorKind::MissingObject);
        let refused = Error::from(std::io::Error::from(std::io::ErrorKind::ConnectionRefused));
        assert_eq!(of_connecting(&refused).kind, ErrorKind::NotReady);
        assert_eq!(of_statement(&refused).kind, ErrorKind::ConnectionLost);
    }
}
