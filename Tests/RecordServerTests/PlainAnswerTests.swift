import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// What clients written for CloudKit Web Services read without asking whether it is there.
@Suite struct PlainAnswerTests {
    private final class Desk {
        static let container = "iCloud.org.example"
        let server: RecordServer
        let url: URL
        let user: ServiceUser
        private let api: String
        private let token: IssuedToken

        init(_ dialect: ServiceDialect) throws {
            let service = try RecordService(platform: .system, dialect: dialect)
            let accounts = service.accounts
            try accounts.createContainer(Self.container)
            user = try accounts.createUser(label: "Anna")
            api = try accounts.issueAPIToken(container: Self.container, label: "t").secret
            token = try accounts.issueUserToken(
                userRecordName: user.userRecordName, label: "t", days: 30)
            var configuration = ServerConfiguration(tls: .off)
            configuration.port = 0
            server = RecordServer(service: service, configuration: configuration)
            url = try server.start()
        }

        deinit { server.stop() }

        /// The members of a good answer.
        func ask(
            _ operation: String, _ body: String, database: String = "private"
        ) throws -> [String: Any] {
            let path = "/database/1/\(Self.container)/development/\(database)/\(operation)"
            let tokens = "?ckAPIToken=\(api)&ckWebAuthToken=\(token.secret)"
            let answer = try CurlHandle(limits: CurlLimits()).perform(
                CurlCall(
                    method: "POST", url: url.absoluteString + path + tokens, headers: [],
                    body: Data(body.utf8)))
            try #require(answer.status == 200)
            let json = try JSONSerialization.jsonObject(with: answer.body)
            return try #require(json as? [String: Any])
        }

        func fetch(
            _ address: String, _ method: String = "GET", _ headers: [(String, String)] = [],
            body: Data = Data()
        ) throws -> CurlAnswer {
            try CurlHandle(limits: CurlLimits()).perform(
                CurlCall(method: method, url: address, headers: headers, body: body))
        }

        /// The first entry of a list.
        func first(
            _ list: String, _ operation: String, _ body: String, database: String = "private"
        ) throws -> [String: Any] {
            let answer = try ask(operation, body, database: database)
            return try #require((answer[list] as? [[String: Any]])?.first)
        }
    }

    private static let zone = #""zoneID":{"zoneName":"notes"}"#
    private static let making =
        #"{"operations":[{"operationType":"create","zone":{\#(zone)}}]}"#
    private static let fields = #"""
        {"a":{"value":{"recordName":"x","zoneID":{"zoneName":"notes"},"action":"NONE"},
        "type":"REFERENCE"}}
        """#

    private static func saving(in zone: String, _ fields: String = fields) -> String {
        #"""
        {\#(zone)"operations":[{"operationType":"forceUpdate","record":{"recordName":"r",
        "recordType":"Note","fields":\#(fields)}}]}
        """#
    }

    private func members(_ value: Any?, _ name: String) -> [String: String]? {
        (value as? [String: Any])?[name] as? [String: String]
    }

    @Test func plainAnswersHaveWhatAppleAlwaysSends() throws {
        let desk = try Desk(.plain)
        let custom = [
            "zoneName": "notes", "ownerRecordName": desk.user.userRecordName,
            "zoneType": "REGULAR_CUSTOM_ZONE",
        ]
        let made = try desk.first("zones", "zones/modify", Self.making)
        #expect(members(made, "zoneID") == custom)
        let saved = try desk.first(
            "records", "records/modify", Self.saving(in: Self.zone + ","))
        #expect(members(saved, "zoneID") == custom)
        let field = (saved["fields"] as? [String: Any])?["a"] as? [String: Any]
        #expect(members(field?["value"], "zoneID") == custom)
        for name in ["created", "modified"] {
            let stamp = saved[name] as? [String: Any]
            #expect(stamp?["deviceID"] as? String == "2")
            #expect(stamp?["userRecordName"] as? String == desk.user.userRecordName)
        }
        let changed = try desk.first(
            "zones", "changes/zone", #"{"zones":[{\#(Self.zone)}]}"#)
        #expect(members(changed, "zoneID") == custom)
        // What was told is understood when it comes back.
        let owned = #"""
            "zoneID":{"zoneName":"notes","ownerRecordName":"\#(desk.user.userRecordName)",
            "zoneType":"REGULAR_CUSTOM_ZONE"},
            """#
        let again = try desk.first("records", "records/modify", Self.saving(in: owned))
        #expect(again["serverErrorCode"] == nil && members(again, "zoneID") == custom)
        let common = try desk.first(
            "records", "records/modify", Self.saving(in: "", "{}"), database: "public")
        #expect(members(common, "zoneID")?["zoneType"] == "DEFAULT_ZONE")
        #expect(members(common, "zoneID")?["ownerRecordName"] == desk.user.userRecordName)
    }

    /// Clients carry tokens and markers as bytes, and read of each record whether it was deleted.
    @Test func plainTokensAreBase64AndRecordsSayThatTheyAreThere() throws {
        let desk = try Desk(.plain)
        func isBase64(_ text: Any?) -> Bool {
            (text as? String).flatMap { Data(base64Encoded: $0) } != nil
        }
        let made = try desk.first("zones", "zones/modify", Self.making)
        let start = try #require(made["syncToken"] as? String)
        #expect(isBase64(start))
        for name in ["a", "bb", "ccc"] {
            let body = Self.saving(in: Self.zone + ",", "{}").replacing(
                #""recordName":"r""#, with: #""recordName":"\#(name)""#)
            let answer = try desk.ask("records/modify", body)
            #expect(isBase64(answer["syncToken"]))
            let saved = (answer["records"] as? [[String: Any]])?.first
            #expect(saved?["deleted"] as? Bool == false)
        }
        let query = #"{\#(Self.zone),"query":{"recordType":"Note"},"resultsLimit":1"#
        var page = try desk.ask("records/query", query + "}")
        for _ in 0..<2 {
            let marker = try #require(page["continuationMarker"] as? String)
            #expect(isBase64(marker))
            page = try desk.ask("records/query", query + #","continuationMarker":"\#(marker)"}"#)
            #expect((page["records"] as? [[String: Any]])?.count == 1)
        }
        let since = try desk.first(
            "zones", "changes/zone", #"{"zones":[{\#(Self.zone),"syncToken":"\#(start)"}]}"#)
        #expect(isBase64(since["syncToken"]))
        #expect((since["records"] as? [[String: Any]])?.count == 3)
        let database = try desk.ask("changes/database", "{}")
        let reached = try #require(database["syncToken"] as? String)
        #expect(isBase64(reached))
        let none = try desk.ask("changes/database", #"{"syncToken":"\#(reached)"}"#)
        #expect((none["zones"] as? [Any])?.isEmpty == true)
        // Tokens of a database to which nothing was written, too.
        let empty = try Desk(.plain)
        let first = try #require(try empty.ask("changes/database", "{}")["syncToken"] as? String)
        #expect(isBase64(first))
        _ = try empty.ask("zones/modify", Self.making)
        let news = try empty.ask("changes/database", #"{"syncToken":"\#(first)"}"#)
        #expect((news["zones"] as? [Any])?.count == 1)
    }

    // MARK: Assets

    private static let asking =
        #"{\#(zone),"tokens":[{"recordType":"Note","recordName":"f","fieldName":"file"}]}"#

    /// The address of an asset that a record has.
    private func address(
        _ desk: Desk, _ body: Data = Data("content".utf8), _ headers: [(String, String)] = []
    ) throws -> String {
        _ = try desk.ask("zones/modify", Self.making)
        let token = try desk.first("tokens", "assets/upload", Self.asking)
        let sent = try desk.fetch(
            try #require(token["url"] as? String), "POST", headers, body: body)
        let told = try JSONSerialization.jsonObject(with: sent.body) as? [String: Any]
        let file = try JSONSerialization.data(withJSONObject: try #require(told?["singleFile"]))
        let text = String(decoding: file, as: UTF8.self)
        let saved = try desk.first(
            "records", "records/modify",
            Self.saving(
                in: Self.zone + ",", #"{"file":{"value":\#(text),"type":"ASSETID"}}"#))
        let field = (saved["fields"] as? [String: Any])?["file"] as? [String: Any]
        let asset = try #require(field?["value"] as? [String: Any])
        return try #require(asset["downloadURL"] as? String)
    }

    /// RFC 9110 §13: what is there already is not sent again, and a part of something else not.
    @Test func assetsAreAskedForOnCondition() throws {
        let desk = try Desk(.extended)
        let address = try address(desk)
        let whole = try desk.fetch(address)
        let tag = try #require(whole.headers["etag"])
        #expect(whole.status == 200 && whole.body == Data("content".utf8))
        for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let answer = try desk.fetch(address, "GET", [("If-None-Match", known)])
            #expect(answer.status == 304 && answer.body.isEmpty, "\(known)")
            #expect(answer.headers["etag"] == tag)
        }
        #expect(try desk.fetch(address, "GET", [("If-None-Match", "\"x\"")]).status == 200)
        #expect(try desk.fetch(address, "GET", [("If-Match", "\"x\"")]).status == 412)
        #expect(try desk.fetch(address, "GET", [("If-Match", "W/\(tag)")]).status == 412)
        for known in [tag, "*", "\"x\",\(tag)"] {
            let answer = try desk.fetch(
                address, "GET", [("If-Match", known), ("Range", "bytes=1-2")])
            #expect(answer.status == 206 && answer.body == Data("on".utf8))
        }
    }

    private static let boundary = "--form-1"

    private static func form(_ content: Data, ending: String) -> Data {
        let head =
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"files\"; "
            + "filename=\"file.file\"\r\nContent-Type: application/octet-stream\r\n\r\n"
        return Data(head.utf8) + content + Data(ending.utf8)
    }

    /// As pages of browsers and some clients send files: the part is the asset, not the form.
    @Test(arguments: [ServiceDialect.extended, .plain], ["--form-1", "\"--form-1\""])
    func aFormsPartIsTheAsset(dialect: ServiceDialect, boundary: String) throws {
        let type = [("Content-Type", "multipart/form-data; boundary=\(boundary)")]
        let near = Data("a\r\n----form-\r\n--\r\n----form-2\r\n".utf8)
        for content in [Data("x".utf8), near, Data(repeating: 13, count: 400_000) + near] {
            let desk = try Desk(dialect)
            let form = Self.form(content, ending: "\r\n--\(Self.boundary)--\r\n")
            let address = try address(desk, form, type)
            #expect(try desk.fetch(address).body == content)
        }
    }

    /// RFC 9110 §14.5: who takes no parts by their range refuses them.
    @Test func aRangeOfAnAssetIsNoAsset() throws {
        let desk = try Desk(.plain)
        _ = try desk.ask("zones/modify", Self.making)
        let token = try desk.first("tokens", "assets/upload", Self.asking)
        let answer = try desk.fetch(
            try #require(token["url"] as? String), "PUT", [("Content-Range", "bytes 2-4/9")],
            body: Data("nte".utf8))
        #expect(answer.status == 400)
    }

    @Test func aFormThatIsCutOffIsNoAsset() throws {
        let desk = try Desk(.plain)
        _ = try desk.ask("zones/modify", Self.making)
        let token = try desk.first("tokens", "assets/upload", Self.asking)
        let url = try #require(token["url"] as? String)
        let whole = "multipart/form-data; boundary=\(Self.boundary)"
        let cut = Self.form(Data("content".utf8), ending: "\r\n--\(Self.boundary.dropLast())")
        for (type, body) in [
            (whole, cut), (whole, Data("content".utf8)), (whole, Data()),
            ("multipart/form-data", cut),
        ] {
            let answer = try desk.fetch(url, "POST", [("Content-Type", type)], body: body)
            #expect(answer.status == 400, "\(type)")
        }
    }
}
