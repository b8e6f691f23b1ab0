import Foundation
import MirrorTransport
import RecordServer
import RecordWire
import Testing

/// The description of the service against the service: no route and no member is missing in it, and
/// none is in it that is not there.
@Suite struct OpenAPITests {
    private let document: [String: Any]
    /// The names that stand in the sources of the codec.
    private let words: Set<String>

    init() throws {
        let json = try JSONSerialization.jsonObject(with: OpenAPIDocument.json())
        document = try #require(json as? [String: Any])
        words = try Self.words(in: ["Codec", "Requests"])
    }

    private static func words(in folders: [String], matching file: String = "") throws
        -> Set<String>
    {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Mirror/RecordWire")
        var words: Set<String> = []
        for folder in folders {
            let path = root.appendingPathComponent(folder)
            for name in try FileManager.default.contentsOfDirectory(atPath: path.path)
            where name.hasSuffix("\(file).swift") {
                let text = try String(
                    contentsOf: path.appendingPathComponent(name), encoding: .utf8)
                words.formUnion(text.matches(of: /"([a-z][A-Za-z-]*)"/).map { String($0.1) })
            }
        }
        return words
    }

    /// All ways to say who calls: tokens, and the three headers of a server's key together.
    @Test func everyWayInIsASecurityScheme() throws {
        let schemes = part("components", "securitySchemes")
        func headers(_ names: [String]) -> [String?] {
            names.map { (schemes[$0] as? [String: Any])?["name"] as? String }
        }
        let ways = try #require(document["security"] as? [[String: Any]])
        let named = Set(ways.flatMap(\.keys))
        #expect(named == Set(schemes.keys))
        let signed = try #require(ways.first { $0.count == 3 }).keys.sorted()
        #expect(
            headers(signed) == [
                "X-Apple-CloudKit-Request-ISO8601Date", "X-Apple-CloudKit-Request-KeyID",
                "X-Apple-CloudKit-Request-SignatureV1",
            ])
    }

    private func part(_ names: String...) -> [String: Any] {
        names.reduce(document) { $0[$1] as? [String: Any] ?? [:] }
    }

    /// The schema behind a reference, and the one of its choices that has such members.
    private func resolved(_ schema: [String: Any], for value: Any) -> [String: Any] {
        if let name = (schema["$ref"] as? String)?.split(separator: "/").last {
            return resolved(part("components", "schemas", String(name)), for: value)
        }
        guard let choices = schema["anyOf"] as? [[String: Any]] else { return schema }
        let found = choices.map { resolved($0, for: value) }.first { choice in
            switch value {
            case let object as [String: Any]:
                let members = choice["properties"] as? [String: Any] ?? [:]
                return choice["type"] as? String == "object"
                    && object.keys.allSatisfy { members[$0] != nil }
            case is [Any]: return choice["type"] as? String == "array"
            default: return false
            }
        }
        return found ?? [:]
    }

    // MARK: Routes

    @Test func everyRouteIsThere() throws {
        let paths = part("paths")
        let base = "/database/1/{container}/{environment}/"
        var known: Set<String> = [
            "/health", "/healthz", "/readyz", "/capabilities", "/openapi.json", "/webcourier",
            "/assets/upload",
            "/assets/file", base + "{database}/changes/stream",
        ]
        for path in WireCodec.operationPaths {
            known.insert(base + "{database}/" + path)
            guard path.hasPrefix("tokens/") else { continue }
            known.formUnion([base + path, base.replacing("/database/", with: "/device/") + path])
        }
        #expect(Set(paths.keys) == known)
        for path in WireCodec.operationPaths {
            let item = try #require(paths[base + "{database}/" + path] as? [String: Any])
            let takesGet = (try? WireCodec.decodeRequest(path: path, method: "GET", body: Data()))
            #expect((item["get"] != nil) == (takesGet != nil), "\(path)")
            #expect(item["post"] != nil)
        }
    }

    @Test func everyReferenceLeadsToASchema() throws {
        let text = String(decoding: try OpenAPIDocument.json(), as: UTF8.self)
        let schemas = part("components", "schemas")
        let named = Set(text.matches(of: /schemas\/([A-Za-z]+)"/).map { String($0.1) })
        #expect(named == Set(schemas.keys))
    }

    @Test func itIsServedToAnybody() throws {
        let server = try TestServer()
        let answer = try server.client().perform(server.get("/openapi.json"))
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
        #expect(try answer.body == OpenAPIDocument.json())
    }

    // MARK: Members of requests

    /// A body of each operation that has every object there is in it.
    private static let zone = #""zoneID":{"zoneName":"z"}"#
    private static let client = #""client":{"instance":"i","round":1,"nonce":"n"}"#
    private static let field = #"{"value":"x","type":"STRING"}"#
    private static let query = #"""
        {"recordType":"T","filterBy":[{"comparator":"EQUALS","fieldName":"f",
        "fieldValue":\#(field)}],"sortBy":[{"fieldName":"f",
        "relativeLocation":{"latitude":1,"longitude":2}}]}
        """#
    private static let participant =
        #"{"userIdentity":{"nameComponents":{},"lookupInfo":{}}}"#
    private static let bodies = [
        "records/modify": #"""
        {"operations":[{"operationType":"create","record":{"recordName":"r",
        "fields":{"a":\#(field),"b":{"value":{"recordName":"x","zoneID":{}},
        "type":"REFERENCE"},"c":{"value":{"latitude":1,"longitude":2},"type":"LOCATION"},
        "d":{"value":{"receipt":"x"},"type":"ASSETID"}},"replays":[{"tag":"1"}],
        "created":{"timestamp":1},"modified":{"timestamp":1},\#(zone),
        "parent":{"recordName":"p","zoneID":{}},"share":{"recordName":"s"},
        "forRecord":{"recordName":"x"},"participants":[\#(participant)],
        "owner":\#(participant),"currentUserParticipant":\#(participant)}}],\#(zone),\#(client)}
        """#,
        "records/lookup": #"{"records":[{"recordName":"r"}],\#(zone),\#(client)}"#,
        "records/query": #"{"query":\#(query),\#(zone)}"#,
        "records/changes": #"{\#(zone),\#(client)}"#,
        "changes/zone": #"{"zones":[{\#(zone),\#(client)}]}"#,
        "changes/database": "{}", "zones/changes": "{}",
        "zones/modify": #"{"operations":[{"operationType":"create","zone":{\#(zone)}}]}"#,
        "zones/lookup": #"{"zones":[{\#(zone)},{"zoneName":"z"}]}"#, "zones/list": "{}",
        "subscriptions/modify": #"""
        {"operations":[{"operationType":"create","subscription":{"subscriptionType":"query",
        "query":\#(query),\#(zone),"notificationInfo":{}}}]}
        """#,
        "subscriptions/lookup": #"{"subscriptions":[{"subscriptionID":"s"}]}"#,
        "subscriptions/list": "{}", "tokens/create": "{}",
        "tokens/register": #"{"apnsEnvironment":"development","apnsToken":"t"}"#,
        "users/caller": "{}", "users/current": "{}", "users/lookup/contacts": "{}",
        "users/discover": #"{"lookupInfos":[{"emailAddress":"a"}]}"#,
        "users/lookup/email": #"{"users":[{"emailAddress":"a"}]}"#,
        "users/lookup/id": #"{"users":[{"userRecordName":"a"}]}"#,
        "records/resolve": #"{"shortGUIDs":[{"value":"g"}]}"#,
        "records/accept": #"{"shortGUIDs":[{"value":"g"}]}"#,
        "assets/upload": #"{"tokens":[{"fieldName":"f"}],\#(zone)}"#,
        "assets/rereference": #"{"assets":[{"recordName":"r","fieldName":"f"}],\#(zone)}"#,
    ]

    @Test(arguments: WireCodec.operationPaths)
    func requestsHaveTheMembersThatAreRead(path: String) throws {
        let body = try #require(Self.bodies[path], "give a body of \(path) to this test")
        let json = try JSONSerialization.jsonObject(with: Data(body.utf8))
        _ = try WireCodec.decodeRequest(path: path, method: "POST", body: Data(body.utf8))
        let content = part(
            "paths", "/database/1/{container}/{environment}/{database}/\(path)", "post",
            "requestBody", "content", "application/json", "schema")
        var probes = 0
        try walk(json, content) { members, place, rebuilt in
            for word in words.union(members) {
                let probe = try JSONSerialization.data(withJSONObject: rebuilt(word))
                let isTaken = Self.takes(path, probe, word)
                #expect(
                    isTaken == members.contains(word), "\(path) \(place).\(word)")
                probes += 1
            }
        }
        #expect(probes > 50)
    }

    /// Whether the reader takes a member, whatever it thinks of its value.
    private static func takes(_ path: String, _ body: Data, _ word: String) -> Bool {
        do {
            _ = try WireCodec.decodeRequest(path: path, method: "POST", body: body)
            return true
        } catch {
            return !error.reason.contains("\(word) is not a key")
        }
    }

    /// Visits each object of a body with the members that its schema has; `rebuilt` gives the whole
    /// body with one member more in that object.
    private func walk(
        _ value: Any, _ schema: [String: Any], _ place: String = "",
        rebuilt: @escaping (Any) -> Any = { $0 },
        _ visit: (Set<String>, String, (String) -> Any) throws -> Void
    ) throws {
        let schema = resolved(schema, for: value)
        if let list = value as? [Any] {
            let items = schema["items"] as? [String: Any] ?? [:]
            for (index, element) in list.enumerated() {
                let rebuiltList = { (new: Any) -> Any in
                    var list = list
                    list[index] = new
                    return rebuilt(list)
                }
                try walk(element, items, "\(place)[\(index)]", rebuilt: rebuiltList, visit)
            }
        }
        guard let object = value as? [String: Any] else { return }
        let members = schema["properties"] as? [String: [String: Any]] ?? [:]
        let others = schema["additionalProperties"] as? [String: Any]
        if others == nil {
            try visit(Set(members.keys), place) { word in
                rebuilt(object.merging([word: NSNull()]) { old, _ in old })
            }
        }
        for (name, child) in object {
            let rebuiltObject = { (new: Any) -> Any in
                rebuilt(object.merging([name: new]) { _, new in new })
            }
            try walk(
                child, members[name] ?? others ?? [:], "\(place).\(name)",
                rebuilt: rebuiltObject, visit)
        }
    }

    // MARK: Members of answers

    @Test func answersHaveTheMembersThatAreWritten() throws {
        var known: Set<String> = []
        func collect(_ value: Any) {
            if let list = value as? [Any] { list.forEach(collect) }
            guard let object = value as? [String: Any] else { return }
            known.formUnion((object["properties"] as? [String: Any] ?? [:]).keys)
            object.values.forEach(collect)
        }
        collect(part("components", "schemas"))
        let written = try Self.words(in: ["Codec"], matching: "Writing")
            .union(try Self.words(in: ["Codec"], matching: "Coding"))
            .union(try Self.words(in: ["Requests"], matching: "CourierNotice"))
        let values: Set<String> = [
            "query", "zone", "database", "null", "true", "false", "development", "production",
            "public", "shared", "at",
        ]
        #expect(written.subtracting(known).subtracting(values).isEmpty)
        #expect(written.count > 40)
    }
}
