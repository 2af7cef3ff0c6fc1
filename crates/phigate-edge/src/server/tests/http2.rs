//! HTTP/2 connections, with the checks of HTTP/1.

use super::*;

#[tokio::test]
async fn http2_requests_are_checked() {
    use http_body_util::{BodyExt, Full};
    use hyper_util::client::legacy::Client;

    let server = start(Limits::default()).await;
    let client = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http::<Full<Bytes>>();
    let send = async |method: &str, path: &str, headers: &[(&str, &str)]| {
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", server.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = client
            .request(
                request
                    .body(Full::new(Bytes::from_static(b"hello")))
                    .unwrap(),
            )
            .await
            .unwrap();
        assert_eq!(answer.version(), http::Version::HTTP_2);
        assert!(answer.headers().contains_key(REQUEST_ID));
        let status = answer.status().as_u16();
        (
            status,
            answer.into_body().collect().await.unwrap().to_bytes(),
        )
    };
    assert_eq!(
        send("POST", "/v1/echo", &[]).await,
        (200, Bytes::from_static(b"hello"))
    );
    assert_eq!(send("TRACE", "/v1/echo", &[]).await.0, 405);
    assert_eq!(send("REFUSE", "/1", &[]).await.0, 404);
    assert_eq!(
        send(
            "POST",
            "/v1/echo",
            &[("authorization", "a"), ("authorization", "b")]
        )
        .await
        .0,
        400
    );
    assert_eq!(
        send("POST", "/v1/echo", &[("content-encoding", "gzip")])
            .await
            .0,
        415
    );
    assert_eq!(send("GET", "/v1/nothing", &[]).await.0, 404);
    let own = server.address.to_string();
    for (host, status) in [(own.as_str(), 200), ("other.example", 400), ("", 400)] {
        assert_eq!(
            send("POST", "/v1/echo", &[("host", host)]).await.0,
            status,
            "{host}"
        );
    }
    let many: Vec<(String, String)> = (0..101)
        .map(|number| (format!("x-{number}"), "v".to_owned()))
        .collect();
    let many: Vec<(&str, &str)> = many
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(send("POST", "/v1/echo", &many).await.0, 431);
}

#[tokio::test]
async fn stalled_http2_callers_are_dropped() {
    use http_body_util::{BodyExt, Empty};
    use hyper::client::conn::http2;

    let server = start(Limits {
        write_stall_ms: 400,
        idle_ms: 400,
        ..Limits::default()
    })
    .await;
    for path in ["/v1/endless", "/healthz"] {
        let stream = TokioIo::new(TcpStream::connect(server.address).await.unwrap());
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream)
            .await
            .unwrap();
        let connection = tokio::spawn(connection);
        let request = http::Request::get(format!("http://{}{path}", server.address))
            .body(Empty::<Bytes>::new());
        let mut answer = sender.send_request(request.unwrap()).await.unwrap();
        answer.body_mut().frame().await.unwrap().unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(3), connection).await;
        assert!(ended.is_ok(), "{path}: the connection was kept");
    }
}

#[tokio::test]
async fn refused_http2_callers_may_finish_sending() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use hyper_util::client::legacy::Client;

    const PIECES: usize = 5;
    let server = start(Limits::default()).await;
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let pieces = stream::unfold(counted, |counted| async move {
        tokio::time::sleep(Duration::from_millis(30)).await;
        let is_last = counted.fetch_add(1, Ordering::SeqCst) == PIECES;
        (!is_last).then(|| {
            (
                Ok::<_, Infallible>(Frame::data(Bytes::from_static(b"x"))),
                counted,
            )
        })
    });
    let client = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http();
    let request = http::Request::post(format!("http://{}/v1/nothing", server.address));
    let request = request.body(Body::new(StreamBody::new(pieces))).unwrap();
    assert_eq!(client.request(request).await.unwrap().status(), 404);
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(
        sent.load(Ordering::SeqCst),
        PIECES + 1,
        "the stream was reset"
    );
}
