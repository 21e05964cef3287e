//! Where metrics are to be served.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// Where metrics are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetricsPlan {
    /// An address of this machine's loopback.
    Loopback(SocketAddr),
    /// A Unix socket, for readers that may reach the file.
    Socket(PathBuf),
}

impl FromStr for MetricsPlan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Self::Socket(PathBuf::from(path)));
        }
        let form = "write an address on loopback with a port, such as 127.0.0.1:9845 or [::1]:9845, \
                    or unix:PATH";
        let address: SocketAddr = text.parse().map_err(|_| format!("{text}: {form}"))?;
        if !address.ip().is_loopback() {
            return Err(format!(
                "{text} can be reached from elsewhere, and metrics have no password: {form}"
            ));
        }
        Ok(Self::Loopback(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_for_this_machine_alone() {
        let plan = |text: &str| text.parse::<MetricsPlan>();
        assert!(matches!(plan("127.0.0.1:9845"), Ok(MetricsPlan::Loopback(_))));
        assert!(matches!(plan("[::1]:9845"), Ok(MetricsPlan::Loopback(_))));
        assert_eq!(plan("unix:/run/m"), Ok(MetricsPlan::Socket("/run/m".into())));
        assert!(plan("0.0.0.0:9845").unwrap_err().contains("can be reached from elsewhere"));
        assert!(plan("unix:").unwrap_err().contains("unix:PATH"));
        assert!(plan("9845").unwrap_err().contains("127.0.0.1:9845"));
    }
}
