import ChildProcesses
import Foundation
import Testing

/// A program that signs its requests by openssl and sends them by curl, as one on another machine
/// would, to `diptych serve`.
@Suite struct ServerKeyVerbTests {
    private let workshop: Workshop
    private let service: TestService
    private let key: String

    /// Signs `date:hash:path` and posts the body; the answer, then its status, is printed.
    private static let client = """
        set -euo pipefail
        path="/database/1/$CONTAINER/development/$3"
        date=${DATE:-$(date -u +%Y-%m-%dT%H:%M:%SZ)}
        hash=$(printf '%s' "$2" | openssl dgst -sha256 -binary | openssl base64 -A)
        signature=$(printf '%s' "$date:${HASH-$hash}:$path" \\
            | openssl dgst -sha256 -sign "$KEY" | openssl base64 -A)
        curl -sS --cacert "$CA" -X POST --data-binary "${BODY-$2}" -w '\\n%{http_code}\\n' \\
            -H "X-Apple-CloudKit-Request-KeyID: $1" \\
            -H "X-Apple-CloudKit-Request-ISO8601Date: $date" \\
            -H "X-Apple-CloudKit-Request-SignatureV1: $signature" "$URL$path"
        """

    private let record =
        #"{"operations":[{"operationType":"create","record":{"recordName":"a","recordType":"Note"#
        + #"","fields":{"title":{"value":"x"}}}}]}"#

    init() throws {
        workshop = try Workshop()
        service = try workshop.service()
        key = workshop.path("key.pem")
        try openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
        try openssl("ec", "-in", key, "-pubout", "-out", workshop.path("public.pem"))
    }

    private func openssl(_ words: String...) throws {
        let child = try workshop.start("/usr/bin/env", ["openssl"] + words)
        #expect(child.wait() == 0, "\(child.complaint)")
    }

    private func ask(_ words: String...) throws -> Run {
        try workshop.run(["service", "keys"] + words + ["--data", service.text("dataFolder")])
    }

    private func register() throws -> String {
        let run = try ask(
            "--add", "importer", "--public-key", workshop.path("public.pem"), "--container",
            service.text("container"), "--environment", "development")
        #expect(run.status == 0, "\(run.complaint)")
        return run.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func post(
        _ id: String, _ body: String, to path: String = "public/records/modify",
        _ change: [String: String] = [:]
    ) throws -> (status: String, body: String) {
        let settings = [
            "URL": service.text("url"), "CONTAINER": service.text("container"),
            "CA": service.text("caFile"), "KEY": key,
        ].merging(change) { $1 }
        let words = settings.map { "\($0.key)=\($0.value)" }
        let child = try workshop.start(
            "/usr/bin/env", words + ["bash", "-c", Self.client, "client", id, body, path])
        #expect(child.wait() == 0, "\(child.complaint)")
        let lines = child.printed.split(separator: "\n").map(String.init)
        return (lines.last ?? "", lines.dropLast().joined())
    }

    @Test func aProgramSignsAndWritesInItsOwnName() throws {
        let id = try register()
        let made = try post(id, record)
        #expect(made.status == "200", "\(made.body)")
        let listed = try #require(try ask("--json").lines.first)
        let user = try #require(listed["userRecordName"] as? String)
        #expect(listed["id"] as? String == id && listed["environment"] as? String == "development")
        #expect(made.body.contains(user))
        let query = #"{"query":{"recordType":"Note"}}"#
        let found = try post(id, query, to: "public/records/query")
        #expect(found.status == "200" && found.body.contains(#""recordName":"a""#))
        // A large body is hashed while it comes.
        let long = record.replacing(#""a""#, with: #""b""#).replacing(
            #""x""#, with: "\"\(String(repeating: "y", count: 90_000))\"")
        #expect(try post(id, long).status == "200")
        let log = try workshop.run(
            "service", "audit", "--json", "--data", service.text("dataFolder"))
        #expect(log.output.contains("serverKeyAdded") && log.output.contains(id))
        #expect(try ask("--revoke", id).status == 0)
        let late = try post(id, query, to: "public/records/query")
        #expect(late.status == "401" && late.body.contains("was revoked"))
        #expect(try ask().output.contains("REVOKED"))
    }

    @Test func whatIsNotSignedAsItIsSentIsRefused() throws {
        let id = try register()
        let altered = try post(id, record, ["BODY": record.replacing("x", with: "z")])
        #expect(altered.status == "401" && altered.body.contains("SHA-256 of the body"))
        let old = try post(id, record, ["DATE": "2016-01-25T22:15:43Z"])
        #expect(old.status == "401" && old.body.contains("set the clock"))
        #expect(try post("0", record).body.contains("key ID is unknown"))
        #expect(try post(id, record, to: "private/records/modify").status == "403")
        #expect(try post(id, "", to: "public/users/discover").status == "403")
        for hash in ["", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="] {
            let empty = try post(id, "", to: "public/subscriptions/list", ["HASH": hash])
            #expect(empty.status == "200", "\(empty.body)")
        }
        #expect(try post(id, record).status == "200")
    }

    @Test func whatMakesNoKeyIsRefused() throws {
        let container = service.text("container")
        let own = try ask(
            "--add", "x", "--public-key", key, "--container", container, "--environment",
            "production")
        #expect(own.status == 1 && own.complaint.contains("private key"))
        #expect(
            try ask(
                "--add", "x", "--public-key", workshop.path("public.pem"), "--container",
                container
            ).status == 2)
        #expect(try ask("--revoke", "x").status == 1)
        #expect(try ask("--public-key", key, "--add", "x").status == 2)
    }
}
