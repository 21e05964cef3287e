//! OpenMetrics over HTTP, on loopback or on a Unix socket: one page, GET only, nothing kept open.

use super::hub::Hub;
use crate::metrics::{CONTENT_TYPE, MetricsPlan, exposition};
use anyhow::{Context, bail};
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Readers at one time; others are closed.
const READERS: usize = 16;

/// Bytes of a request's head.
const HEAD: usize = 8 * 1024;

/// For a whole exchange.
const PATIENCE: Duration = Duration::from_secs(5);

/// A listener; a socket's file goes with it.
#[derive(Debug)]
pub(super) enum Page {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Page {
    /// Listens where `plan` says.
    ///
    /// # Errors
    /// When the address is taken or the socket cannot be made.
    pub(super) async fn bind(plan: &MetricsPlan) -> anyhow::Result<Self> {
        match plan {
            MetricsPlan::Loopback(address) => {
                let listener = TcpListener::bind(address).await;
                Ok(Self::Tcp(
                    listener.with_context(|| format!("cannot serve metrics at {address}"))?,
                ))
            }
            MetricsPlan::Socket(path) => {
                let shown = path.display();
                clear(path)?;
                let listener = UnixListener::bind(path)
                    .with_context(|| format!("cannot serve metrics at {shown}"))?;
                fs::set_permissions(path, fs::Permissions::from_mode(0o666))
                    .with_context(|| format!("cannot set the mode of {shown}"))?;
                Ok(Self::Unix(listener, path.clone()))
            }
        }
    }

    /// Answers until the runtime ends.
    pub(super) async fn serve(self: Rc<Self>, hub: Hub) {
        let free = Arc::new(Semaphore::new(READERS));
        loop {
            // No place, or no file descriptor: the next one may have more luck.
            let Ok(place) = free.clone().acquire_owned().await else { return };
            let hub = hub.clone();
            let failed = match &*self {
                Self::Tcp(listener) => match listener.accept().await {
                    Ok((stream, _)) => spawn(stream, hub, place),
                    Err(_) => true,
                },
                Self::Unix(listener, _) => match listener.accept().await {
                    Ok((stream, _)) => spawn(stream, hub, place),
                    Err(_) => true,
                },
            };
            if failed {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = fs::remove_file(path);
        }
    }
}

/// A socket that was left behind goes; anything else stays.
fn clear(path: &Path) -> anyhow::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).context(format!("cannot look at {}", path.display())),
        Ok(meta) if !meta.file_type().is_socket() => bail!(
            "{}, which is to be the metrics socket, is there and is no socket; name another path or \
             remove it",
            path.display()
        ),
        Ok(_) => match std::os::unix::net::UnixStream::connect(path) {
            Ok(_) => bail!("somebody serves at {} already", path.display()),
            Err(_) => fs::remove_file(path).context(format!("cannot remove {}", path.display())),
        },
    }
}

fn spawn<S>(stream: S, hub: Hub, place: tokio::sync::OwnedSemaphorePermit) -> bool
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    tokio::task::spawn_local(async move {
        let _ = timeout(PATIENCE, answer(stream, &hub)).await;
        drop(place);
    });
    false
}

async fn answer<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, hub: &Hub) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        if head.len() > HEAD {
            return reply(&mut stream, "431 Request Header Fields Too Large", "text/plain", "")
                .await;
        }
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let (status, kind, body) = page(&head, || exposition(&hub.status()));
    reply(&mut stream, status, kind, &body).await
}

/// What is answered to the request `head`.
fn page(head: &[u8], metrics: impl FnOnce() -> String) -> (&'static str, &'static str, String) {
    let first = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = path.split('?').next().unwrap_or_default();
    match (method, path) {
        ("GET", "/metrics" | "/") => ("200 OK", CONTENT_TYPE, metrics()),
        ("GET", _) => ("404 Not Found", "text/plain", "there is only /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "text/plain", "only GET\n".to_owned()),
    }
}

async fn reply<S: AsyncWrite + Unpin>(
    stream: &mut S,
    status: &str,
    kind: &str,
    body: &str,
) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_one_page_is_there_and_only_to_be_read() {
        let answer = |head: &str| page(head.as_bytes(), || "m".to_owned()).0;
        assert_eq!(answer("GET /metrics HTTP/1.1\r\n\r\n"), "200 OK");
        assert_eq!(answer("GET /metrics?x=1 HTTP/1.1\r\n\r\n"), "200 OK");
        assert_eq!(answer("GET /etc/passwd HTTP/1.1\r\n\r\n"), "404 Not Found");
        assert_eq!(answer("POST /metrics HTTP/1.1\r\n\r\n"), "405 Method Not Allowed");
        assert_eq!(answer("\r\n\r\n"), "405 Method Not Allowed");
    }
}
