-- A store as it was before its rows were authenticated: one owner, one key, one provider, an owner link.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE schema_migration (version INTEGER PRIMARY KEY, checksum TEXT NOT NULL);
INSERT INTO schema_migration VALUES(1,'fcefe64521e3a735c2daa120d7bc48e1');
CREATE TABLE item (
    account TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    lookup TEXT,
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (account, kind, id)
);
INSERT INTO item VALUES('','meta','master',NULL,1,'{"id":"1c75fa98d0f2","check":"WBIMhU8kzmfW5C+jBjJSDuiz7HZOnrcEmlrZZIOKzKE="}');
INSERT INTO item VALUES('','data_key','91b7e2c014c8fbfd',NULL,1,'{"purpose":"root","month":"","wrapped":"AQAAAAAAAAAAUKryWyuucIXed8wsBgBgiD9C0VbFFcJIsN57l+C4CwwAL+hZfyppKtjVyiRMgk8B2vPpF8ezlfrZJzZbHqZNyCW3ylkFK4bCulPpkG/7Gq1I","master":"1c75fa98d0f2"}');
INSERT INTO item VALUES('','lane','1',NULL,12,'{"instance":"01a1e0b7-9c17-749c-b425-aac4bf1139d3","released":true,"serves":false}');
INSERT INTO item VALUES('bewxdhrs7scv','account','bewxdhrs7scv','default',2,'{"name":"default","created":"2026-11-15T19:38:05.29539306Z","mode":"mask","previous_mode":"flag","mode_changed_by":"cli","mode_changed":"2026-11-15T19:38:11.866695787Z","settings":{"allow_unscannable":false,"thresholds":{},"mrn_formats":[],"limits":{},"retention":{"content_days":2192,"metadata_days":2192,"legal_hold":false}},"aliases":{}}');
INSERT INTO item VALUES('bewxdhrs7scv','link','3vh5cvltgmmx','07fe145305ad3ed2ce34fe932b661db7992d66d03585c0ba24e1052f7dc67a83',1,'{"purpose":"owner","role":"owner","email":null,"expires":"2026-11-16T19:38:05.353499198Z"}');
INSERT INTO item VALUES('bewxdhrs7scv','user','ewgxa1wm6yvc','jane@example.org',1,'{"email":"jane@example.org","role":"owner","password":"$argon2id$v=19$m=19456,t=2,p=1$FvhdTX/1iVECMZwinOVu9Q$+NAo03kC/CxwPe8oqywzX+3SzqOiLr7gYdkqwbP+NFY","totp":null,"totp_step":0,"created":"2026-11-15T19:38:11.327033012Z","last_login":null}');
INSERT INTO item VALUES('bewxdhrs7scv','api_key','4ozdzd86731e','4ozdzd86731e',1,'{"name":"app","hash":"NX6fNUJNkE+kaXGS+0HotdSKm5aJ0zJTcQs6DMm0BQY=","created":"2026-11-15T19:38:11.610730516Z","created_by":"cli","expires":null,"revoked":null,"rotated_to":null}');
INSERT INTO item VALUES('bewxdhrs7scv','data_key','4e95592315daa0de',NULL,1,'{"purpose":"secrets","month":"","wrapped":"AQAAAAAAAAAA+PG87rbUvLHjz+OsZDFlHJtWGMqnQiNu16vcVp6AOlgAg1+fBfAuv6ogUo+O2zBaScTCAzeKXBIJpytzb+YtnrNzZekOl2bWPJ+bsoNO6XXW","master":"1c75fa98d0f2"}');
INSERT INTO item VALUES('bewxdhrs7scv','provider','openai',NULL,1,'{"base_url":"https://models.example","sealed":"AU6VWSMV2qDeV82ljQtagFq4U5XBhnWmBmf+jAC6bi0HhLEy6ND7Rq0AqoxcgCFQkrOpO6ZQbzp84Fcb+X4kbIaDEPYnV9iKHGjjl78k","last4":"0000","updated":"2026-11-15T19:38:11.735818377Z","updated_by":"cli"}');
CREATE TABLE generation (one INTEGER PRIMARY KEY CHECK (one = 1), value INTEGER NOT NULL);
INSERT INTO generation VALUES(1,5);
CREATE TABLE audit_record (
    number INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    time INTEGER NOT NULL,
    id BLOB NOT NULL,
    kind INTEGER NOT NULL,
    request BLOB,
    key_id TEXT,
    mode TEXT,
    action TEXT,
    model TEXT,
    types TEXT,
    act TEXT,
    lane INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    body TEXT NOT NULL
);
INSERT INTO audit_record VALUES(1,'bewxdhrs7scv',1794771485295393,X'01a1e0b7826f72979006134112f98b65',3,NULL,NULL,NULL,NULL,NULL,NULL,'account.create',1,1,'{"record":"admin","time":"2026-11-15T19:38:05.29539306Z","account":"default","actor":"system","act":"account.create","target":"default"}');
INSERT INTO audit_record VALUES(2,'bewxdhrs7scv',1794771485353563,X'01a1e0b782a972708ed41346fe923332',3,NULL,NULL,NULL,NULL,NULL,NULL,'link.create',1,2,'{"record":"admin","time":"2026-11-15T19:38:05.353563524Z","account":"default","actor":"system","act":"link.create","target":"3vh5cvltgmmx","details":{"role":"owner"}}');
INSERT INTO audit_record VALUES(3,'bewxdhrs7scv',1794771491423448,X'01a1e0b79a5f772fafc57a414721b8d5',3,NULL,NULL,NULL,NULL,NULL,NULL,'user.create',1,3,'{"record":"admin","time":"2026-11-15T19:38:11.423448081Z","account":"default","actor":"cli","act":"user.create","target":"jane@example.org","details":{"role":"owner"}}');
INSERT INTO audit_record VALUES(4,'bewxdhrs7scv',1794771491610778,X'01a1e0b79b1a72e5beb1dd1480d97b54',3,NULL,NULL,NULL,NULL,NULL,NULL,'key.create',1,4,'{"record":"admin","time":"2026-11-15T19:38:11.610778842Z","account":"default","actor":"cli","act":"key.create","target":"4ozdzd86731e","details":{"name":"app"}}');
INSERT INTO audit_record VALUES(5,'bewxdhrs7scv',1794771491735819,X'01a1e0b79b9777e2a11bc3f64cfd8566',3,NULL,NULL,NULL,NULL,NULL,NULL,'provider.set',1,5,'{"record":"admin","time":"2026-11-15T19:38:11.735819283Z","account":"default","actor":"cli","act":"provider.set","target":"openai","from":"default","to":"https://models.example","details":{"key":"new","last4":"0000"}}');
INSERT INTO audit_record VALUES(6,'bewxdhrs7scv',1794771491866695,X'01a1e0b79c1a70289fcaac948188ecde',3,NULL,NULL,NULL,NULL,NULL,NULL,'mode.set',1,6,'{"record":"admin","time":"2026-11-15T19:38:11.866695787Z","account":"default","actor":"cli","act":"mode.set","from":"flag","to":"mask"}');
CREATE TABLE audit_chain (
    account TEXT NOT NULL,
    lane INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    record BLOB NOT NULL,
    time INTEGER NOT NULL,
    leaf BLOB NOT NULL,
    digest BLOB NOT NULL,
    mac BLOB NOT NULL,
    signature BLOB,
    PRIMARY KEY (account, lane, seq)
);
INSERT INTO audit_chain VALUES('bewxdhrs7scv',1,1,X'01a1e0b7826f72979006134112f98b65',1794771485295393,X'5ec66f56380a91ebf00996f364fa8bb0fed8b6efbc00ffa9394c1115f3de78a2',X'021acd0dba072c8e5db6a85c93e51f05dfb767979b4c7566adea367fb51cfefa',X'823c94c65c6b304a641ce1b629d0e4e5',X'2e057c2a3dbbd62b0e06d34bca667ef81a8b83a4014c78ace7232ee3a47dc7b0341e8000f43924ec5698b5a8e0380cb454d7e749016770257211b42c4b22b80e');
INSERT INTO audit_chain VALUES('bewxdhrs7scv',1,2,X'01a1e0b782a972708ed41346fe923332',1794771485353563,X'2b82dc9ee32056fde398d4fa739b139ef2e00e59b523962da41281ee99d34d4d',X'632dda76f1ac47127005eabdd9b3ca576636a64a925b5c2301afb9af16f3905b',X'e0f512c6c15b326dc9890e191a71add9',X'cc3968214b797abdc4a9f3d4f073d84ffb578acff657e6ee09b8e5dd50780dd707ef5ff9db0cb0f571e9b3a0e09002f6f48167d3bd6240426e86b22d25d92504');
INSERT INTO audit_chain VALUES('bewxdhrs7scv',1,3,X'01a1e0b79a5f772fafc57a414721b8d5',1794771491423448,X'd47a45df421d0fd55e5250050308ce8e37e440dc31faa9fd54868229df7eeda7',X'4fc91713e6bd30f81301e5d3de2c658c1037aa94fe5ac3ec47ae0076d452533e',X'293a433d3a2281811bf39b3ab18c18a0',X'c68055b2686dec6bfc4a6b3da393d111099b046f07d6bb8225c0b126c37e484650750e200d93911f3b989b9ecb5a747bf99c90dd6f8ee3a4c2f0f12123c99403');
INSERT INTO audit_chain VALUES('bewxdhrs7scv',1,4,X'01a1e0b79b1a72e5beb1dd1480d97b54',1794771491610778,X'd6a624f1091e00aabdd73d8de338910b476412f081a1c90f815605df2a49f076',X'5fcaaf28e16c8a656c1087e9900da10c955606bdbc4d3f8f1b139b01be3a3be6',X'939e2fa900c5aa4bc8416732616ad63b',X'b9b0d3949a694691f39c478f6628c06ac20dd2e508e9c4af2c79b338b090336b9ff1a10a1d41c5fbc803151a5ea73d584499483c13d5a0ddfcadac194a7b7d00');
INSERT INTO audit_chain VALUES('bewxdhrs7scv',1,5,X'01a1e0b79b9777e2a11bc3f64cfd8566',1794771491735819,X'3cde9db840648d71b32af34016459ecd1575816ea011296624d8472ced181dc1',X'cbb792c0774955c8bfdc1dc022a5ec6f3cc469715e162596eea042ae5db4acfa',X'ec1ee7d11e3fed5247d01f8e2cbaefe2',X'2ef79339b6daed93ebfbb895d37c07ac95b113c47b9f6c9e8a8e9972f2adfbbbeffaea1a7b521e6b6b25859787e6a985bfa9b59299fdc545ee991a1b5d06b300');
INSERT INTO audit_chain VALUES('bewxdhrs7scv',1,6,X'01a1e0b79c1a70289fcaac948188ecde',1794771491866695,X'a020143ac8c5f83ae2027134eaf25a3d278f90aba7bc3361777c49aab708e0a7',X'89ebfde7e4540ffc01b6fa9235f495e4c3a31ad9c7fbc114d7cf460838f568e5',X'82ef442ac820911518b07dc67b67eb10',X'660779425e98230a861007357340d5c417acd4f5df11e5de2c95c97de2e4720897c9612909fe65c7227843cccf773f30ff27bd64107938bc23af31283a082200');
CREATE TABLE audit_content (
    number INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    time INTEGER NOT NULL,
    original BLOB,
    sent BLOB
);
CREATE TABLE audit_token (
    account TEXT NOT NULL,
    token BLOB NOT NULL,
    time INTEGER NOT NULL,
    request BLOB NOT NULL,
    PRIMARY KEY (account, token, time, request)
);
CREATE TABLE audit_counter (
    account TEXT NOT NULL,
    hour INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    name TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (account, hour, lane, name)
);
CREATE TABLE open_request (
    account TEXT NOT NULL,
    request BLOB NOT NULL,
    time INTEGER NOT NULL,
    instance BLOB NOT NULL,
    PRIMARY KEY (account, request)
);
CREATE UNIQUE INDEX item_lookup ON item (kind, lookup);
CREATE INDEX item_kind ON item (kind, account, id);
CREATE INDEX audit_record_search ON audit_record (account, time, id, kind, action, mode, key_id, model, types, act);
CREATE INDEX audit_record_request ON audit_record (account, request);
CREATE INDEX audit_content_time ON audit_content (account, time);
CREATE INDEX audit_token_request ON audit_token (account, request);
COMMIT;
