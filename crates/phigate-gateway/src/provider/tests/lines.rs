//! Reuse of connections without TLS.

use super::*;

async fn ask(provider: &Provider, fake: &Fake) -> Bytes {
    let answer = provider.send(call(&fake.base, "a")).await.unwrap();
    let body = answer.body.read_all().await.unwrap();
    // Wait until the provider's next act has arrived, before the next request.
    tokio::time::sleep(Duration::from_millis(50)).await;
    body
}

#[tokio::test]
async fn closed_idle_connection_is_replaced() {
    let fake = fake(&[Act::Say(OK), Act::Keep(OK)]).await;
    let provider = provider(Limits::default());
    for opened in [1, 2, 2] {
        assert_eq!(ask(&provider, &fake).await, "ok");
        assert_eq!(fake.connections.load(Ordering::SeqCst), opened);
    }
}

#[tokio::test]
async fn unsolicited_data_is_not_an_answer() {
    const TWICE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok\
                         HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nother";
    let fake = fake(&[Act::Keep(TWICE)]).await;
    let provider = provider(Limits::default());
    for opened in [1, 2, 3] {
        assert_eq!(ask(&provider, &fake).await, "ok");
        assert_eq!(fake.connections.load(Ordering::SeqCst), opened);
    }
}

#[tokio::test]
async fn complete_answer_keeps_the_connection() {
    const PIECE: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n";
    let fake = fake(&[Act::Keep(PIECE)]).await;
    let provider = provider(Limits::default());
    for _ in 0..3 {
        let mut answer = provider.send(call(&fake.base, "a")).await.unwrap();
        assert_eq!(answer.body.next().await.unwrap().unwrap(), "ab");
        drop(answer);
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(fake.connections.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn concurrent_calls_use_separate_connections() {
    let fake = fake(&[Act::Keep(OK)]).await;
    let provider = provider(Limits::default());
    for _ in 0..2 {
        let calls = (0..5).map(|_| ask(&provider, &fake));
        let answers = futures_util::future::join_all(calls).await;
        assert_eq!(answers, vec!["ok"; 5]);
        assert_eq!(fake.connections.load(Ordering::SeqCst), 5);
    }
}
