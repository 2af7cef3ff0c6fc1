//! A minimal reverse proxy: forwards requests and answers over pooled connections.

use anyhow::Result;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

/// Serves on a free loopback port and prints it.
pub(crate) async fn serve(upstream: &str) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Client<HttpConnector, Incoming> =
        Client::builder(TokioExecutor::new()).build(connector);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (client, upstream) = (client.clone(), upstream.to_owned());
        tokio::spawn(async move {
            let service =
                service_fn(move |request| pass(client.clone(), upstream.clone(), request));
            let connection = hyper::server::conn::http1::Builder::new();
            let _ = connection
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn pass(
    client: Client<HttpConnector, Incoming>,
    upstream: String,
    mut request: Request<Incoming>,
) -> Result<Response<Incoming>> {
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    *request.uri_mut() = format!("http://{upstream}{path}").parse::<Uri>()?;
    request.headers_mut().remove(hyper::header::HOST);
    Ok(client.request(request).await?)
}
