import Foundation
import FuzzTargets
import ObjectModel
import SQLiteDriver

extension HostileFile {
    private static func xml(_ objects: String, metadata: String = "<dict></dict>") -> Data {
        text(
            "<?xml version=\"1.0\"?><database><databaseInfo><UUID>X</UUID>"
                + "<nextObjectID>200</nextObjectID><metadata><plist>\(metadata)</plist></metadata>"
                + "</databaseInfo>\(objects)</database>")
    }

    static let graphs: [HostileFile] = [
        HostileFile("an XML store nested 100,000 deep", .xmlstore, .refused("deeper than")) {
            xml("", metadata: many("<array>", 100_000))
        },
        HostileFile("an XML store with entities", .xmlstore, .refused("declares entities")) {
            text("<!DOCTYPE d [<!ENTITY a \"&b;&b;\"><!ENTITY b \"&a;\">]>") + xml("")
        },
        HostileFile("an XML store that expands an entity", .xmlstore, .refused("no entity")) {
            xml("<object type=\"BOX\" id=\"z1\"><attribute name=\"title\" type=\"string\">&lol;")
        },
        HostileFile("two objects of one name", .xmlstore, .refused("two objects")) {
            xml(many("<object type=\"BOX\" id=\"z7\"></object>", 2))
        },
        HostileFile("keys at the end of numbers", .xmlstore, .either) {
            xml(
                "<object type=\"BOX\" id=\"z4611686018427387903\"></object>"
                    + many("<object type=\"BOX\" id=\"z9223372036854775807\"></object>", 1))
        },
        HostileFile("a link to nowhere", .xmlstore, .refused("no object")) {
            xml(
                "<object type=\"BOX\" id=\"z1\"><relationship name=\"things\" type=\"0/0\" "
                    + "destination=\"THING\" idrefs=\"z2\"></relationship></object>")
        },
        HostileFile("a link to another entity", .xmlstore, .refused("another entity")) {
            xml(
                "<object type=\"BOX\" id=\"z1\"><relationship name=\"things\" type=\"0/0\" "
                    + "destination=\"THING\" idrefs=\"z1\"></relationship></object>")
        },
        HostileFile("100,000 links to one object", .xmlstore, .either) {
            xml(
                "<object type=\"BOX\" id=\"z1\"><relationship name=\"content\" type=\"0/0\" "
                    + "destination=\"THING\" idrefs=\"\(many("z2 ", 100_000))\"></relationship>"
                    + "</object><object type=\"THING\" id=\"z2\"></object>")
        },
        HostileFile("values of other types in XML", .xmlstore, .refused("no value of type")) {
            xml(
                "<object type=\"THING\" id=\"z1\">"
                    + "<attribute name=\"small\" type=\"int16\">many</attribute></object>")
        },
        HostileFile("a decimal of any size", .xmlstore, .either) {
            xml(
                "<object type=\"THING\" id=\"z1\"><attribute name=\"price\" type=\"decimal\">"
                    + "1e999999999</attribute></object>")
        },
        HostileFile("a dictionary that is its own key", .binarystore, .refused("no text")) {
            var archive = ForgedArchive()
            let root = archive.reserve()
            _ = archive.dictionary([(root, root)], at: root)
            return archive.data(root: root)
        },
        HostileFile("metadata that holds itself", .binarystore, .refused("nest too deep")) {
            var archive = ForgedArchive()
            let metadata = archive.reserve()
            let key = archive.plain(.string("a"))
            _ = archive.dictionary([(key, metadata)], at: metadata)
            return binary(&archive, metadata: metadata, entities: [])
        },
        HostileFile("one large head named 5,000 times", .binarystore, .refused("without end")) {
            var archive = ForgedArchive()
            let name = archive.plain(.string("a"))
            let facts = ["name", "type"].map { (archive.plain(.string($0)), name) }
            let head = archive.dictionary(facts + Array(repeating: (name, name), count: 20_000))
            let heads = archive.put(
                "NSArray", [("NS.objects", archive.list(Array(repeating: head, count: 5_000)))])
            let entity = archive.dictionary([
                (archive.plain(.string("name")), name),
                (archive.plain(.string("attributes")), heads),
            ])
            return binary(&archive, metadata: nil, entities: [entity])
        },
    ]

    private static func binary(
        _ archive: inout ForgedArchive, metadata: Int?, entities: [Int]
    ) -> Data {
        var entries: [(Int, Int)] = []
        func add(_ key: String, _ value: Int) {
            entries.append((archive.plain(.string(key)), value))
        }
        add("NSBinaryStoreFormat", archive.plain(.integer(1)))
        add("NSStoreUUID", archive.plain(.string("X")))
        add("NSNextObjectID", archive.plain(.integer(1)))
        add("NSMetadata", metadata ?? archive.dictionary([]))
        let list = archive.put("NSArray", [("NS.objects", archive.list(entities))])
        add("NSEntities", list)
        return archive.data(root: archive.dictionary(entries))
    }

    // MARK: Databases

    /// A view that never ends, in the place of a table.
    private static func endless(_ columns: String) -> String {
        "SELECT \(columns) FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
            + "SELECT x FROM n WHERE x < 0)"
    }

    static let databases: [HostileFile] = [
        HostileFile("a view in place of the metadata", .sqlitestore, .refused("lacks Z_METADATA")) {
            try forged(
                "DROP TABLE Z_METADATA; CREATE VIEW Z_METADATA AS \(endless("x Z_UUID, x Z_PLIST"))"
            )
        },
        HostileFile("a view in place of the rows", .sqlitestore, .refused("lacks columns")) {
            try forged(
                "DROP TABLE ZBOX; CREATE VIEW ZBOX AS \(endless("x Z_PK, x Z_ENT, x Z_OPT"))")
        },
        HostileFile("a view in place of the history", .sqlitestore, .refused("refused a statement"))
        {
            try forged(
                "DROP TABLE ATRANSACTION; CREATE VIEW ATRANSACTION AS \(endless("x Z_PK"))")
        },
        HostileFile("a view in place of the model", .sqlitestore, .either) {
            try forged(
                "DROP TABLE Z_MODELCACHE; CREATE VIEW Z_MODELCACHE AS \(endless("x Z_CONTENT"))")
        },
        HostileFile("metadata that the schema computes", .sqlitestore, .refused("lacks")) {
            try forged(
                "DROP TABLE Z_METADATA; CREATE TABLE Z_METADATA (Z_UUID, "
                    + "Z_PLIST AS (zeroblob(900000000))); INSERT INTO Z_METADATA VALUES ('X')")
        },
        HostileFile("rows that the schema computes", .sqlitestore, .refused("computed columns")) {
            try forged("ALTER TABLE ZBOX ADD COLUMN ZBOMB AS (hex(zeroblob(400000000)))")
        },
        HostileFile("a model that the schema computes", .sqlitestore, .either) {
            try forged(
                "DROP TABLE Z_MODELCACHE; CREATE TABLE Z_MODELCACHE (x, Z_CONTENT AS "
                    + "(zeroblob(900000000))); INSERT INTO Z_MODELCACHE VALUES (1)")
        },
        HostileFile("a virtual table as metadata", .sqlitestore, .refused("lacks Z_METADATA")) {
            try forged(
                "DROP TABLE Z_METADATA; CREATE VIRTUAL TABLE Z_METADATA USING fts5(Z_UUID, Z_PLIST)"
            )
        },
        HostileFile("a trigger that calls what is ours", .sqlitestore, .either) {
            try forged(
                "CREATE TRIGGER t AFTER INSERT ON ZBOX BEGIN SELECT diptych_matches('a', 'b', 0); "
                    + "END")
        },
        HostileFile("metadata that doubles with each step", .sqlitestore, .refused("metadata")) {
            let list = ForgedArchive.plist(
                (0..<40).map { .array([$0 + 1, $0 + 1]) } + [.bool(true)], root: 0)
            return try forged("UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(list)])
        },
        HostileFile("a schema that is no SQL", .sqlitestore, .refused("damaged")) {
            try edited("CREATE TABLE ZBOX ", "CREATE ((((( ZBOX ")
        },
        HostileFile("a schema of another table's text", .sqlitestore, .either) {
            try edited("CREATE TABLE ZBOX ", "CREATE TABLE ZBOY ")
        },
        HostileFile("pages that are all zero", .sqlitestore, .either) {
            let data = try seed()
            return data.prefix(512) + Data(repeating: 0, count: data.count - 512)
        },
        HostileFile("a page size of another file", .sqlitestore, .refused("damaged")) {
            var data = try seed()
            data.replaceSubrange(16..<18, with: [0x80, 0x00])
            return data
        },
        HostileFile("text where numbers stand", .sqlitestore, .either) {
            try forged(
                "UPDATE ZBOX SET Z_ENT = 'x', Z_OPT = x'00', ZTITLE = x'ff'; "
                    + "UPDATE Z_PRIMARYKEY SET Z_MAX = 1e300, Z_SUPER = -1")
        },
    ]

    private static func seed() throws -> Data {
        let files = try Seeds.files(of: .sqlitestore)
        guard let file = files.first(where: { $0.lastPathComponent == "carried.sqlite" }) else {
            throw CocoaError(.fileNoSuchFile)
        }
        return try Data(contentsOf: file)
    }

    /// The seed after a script; or, with values, after one statement.
    private static func forged(_ script: String, _ values: [SQLiteValue] = []) throws -> Data {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("forged-\(UUID().uuidString).sqlite")
        defer { try? FileManager.default.removeItem(at: url) }
        try seed().write(to: url)
        do {
            let connection = try Connection(path: url.path)
            if values.isEmpty {
                try connection.script(script)
            } else {
                try connection.run(script, values)
            }
        }
        return try Data(contentsOf: url)
    }

    /// The seed with a text of its schema replaced by one as long.
    private static func edited(_ text: String, _ other: String) throws -> Data {
        var data = try seed()
        guard let range = data.range(of: Data(text.utf8)), text.utf8.count == other.utf8.count
        else {
            throw CocoaError(.fileReadCorruptFile)
        }
        data.replaceSubrange(range, with: Data(other.utf8))
        return data
    }

    // MARK: Predicates

    static let predicates: [HostileFile] = [
        HostileFile("100,000 parentheses", .predicate, .refused("Unable to parse")) {
            text(many("(", 100_000))
        },
        HostileFile("100,000 times NOT", .predicate, .refused("Unable to parse")) {
            text(many("NOT ", 100_000) + "TRUEPREDICATE")
        },
        HostileFile("100,000 times minus", .predicate, .refused("Unable to parse")) {
            text("a == " + many("-", 100_000) + "1")
        },
        HostileFile("100,000 indexes", .predicate, .refused("Unable to parse")) {
            text("a" + many("[0]", 100_000) + " == 1")
        },
        HostileFile("a sum of 100,000 parts", .predicate, .refused("Unable to parse")) {
            text("a == " + many("1 + ", 100_000) + "1")
        },
        HostileFile("100,000 conditions", .predicate, .either) {
            text(many("a == 1 OR ", 100_000) + "a == 3")
        },
        HostileFile("a number of a million digits", .predicate, .either) {
            text("a == " + many("9", 1_000_000))
        },
        HostileFile("shifts and powers past the end", .predicate, .either) {
            text("leftshift(1, 9223372036854775807) + 9 ** 9 ** 9 == -9223372036854775808 / -1")
        },
    ]
}
