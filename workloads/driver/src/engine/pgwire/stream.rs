//! The socket below a connection.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

use super::address::{Address, Host};
use super::error::{not_ready, unexpected};
use crate::engine::tls::{self, Encryption, Tls};
use crate::engine::EngineError;

/// After so long without traffic the kernel asks whether the other side is still there.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
/// Data that is not acknowledged for so long breaks the connection.
const USER_TIMEOUT: Duration = Duration::from_secs(60);

/// A connected socket.
pub enum Stream {
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    Unix(UnixStream),
}

impl Stream {
    /// Connects to the first address of the host that answers; with TLS where it is asked for.
    pub async fn connect(address: &Address, tls: Option<&Tls>) -> Result<Self, EngineError> {
        let stream = Stream::plain(address).await.map_err(not_ready)?;
        match (stream, tls) {
            (Stream::Tcp(socket), Some(tls)) => Ok(Stream::Tls(Box::new(secure(socket, tls).await?))),
            (stream, _) => Ok(stream),
        }
    }

    /// What the data are encrypted with, if at all.
    pub fn encryption(&self) -> Option<Encryption> {
        match self {
            Stream::Tls(stream) => Encryption::of(stream.get_ref().1),
            Stream::Tcp(_) | Stream::Unix(_) => None,
        }
    }

    async fn plain(address: &Address) -> io::Result<Self> {
        let host = match &address.host {
            Host::Folder(folder) => {
                let path = folder.join(format!(".s.PGSQL.{}", address.port));
                return Ok(Stream::Unix(UnixStream::connect(path).await?));
            }
            Host::Network(host) => host.as_str(),
        };
        let stream = TcpStream::connect((host, address.port)).await?;
        stream.set_nodelay(true)?;
        let socket = SockRef::from(&stream);
        socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE_IDLE))?;
        socket.set_tcp_user_timeout(Some(USER_TIMEOUT))?;
        Ok(Stream::Tcp(stream))
    }
}

/// Asks the server for TLS, and begins it.
async fn secure(mut socket: TcpStream, tls: &Tls) -> Result<TlsStream<TcpStream>, EngineError> {
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    socket.write_all(&request).await.map_err(not_ready)?;
    // One byte and no more: what somebody has put behind it in clear must not pass for the server's.
    match socket.read_u8().await.map_err(not_ready)? {
        b'S' => tls.secure(socket).await,
        b'N' => Err(tls::not_offered()),
        b'E' => Err(not_ready("the server has an error in place of an answer to the request for TLS")),
        other => Err(unexpected(format!("it begins with byte {other}"))),
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Unix(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Stream::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Stream::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            // What is encrypted may wait in memory; what is not is the kernel's already.
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tcp(_) | Stream::Unix(_) => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
