import Foundation
import ObjectModel
import Platform
import Stores
import Testing

/// What becomes of the file when the machine, the disk or another program interferes.
@Suite struct GraphFileTests {
    /// Fails at a named point, as a crash would end there.
    private struct Failing: FaultPoints {
        struct Struck: Error {}
        let point: String
        func reach(_ name: String) throws { if name == point { throw Struck() } }
    }

    private func insert(_ title: String, into store: any RowStore) throws {
        let layout = try #require(store.layout.entity(named: "Label"))
        let key = try #require(try store.reserveKeys(entity: layout.number, count: 1).first)
        var row = Row(id: RowID(entity: layout.number, key: key), layout: layout)
        row.attributes[try #require(layout.attributeSlot("title"))] = .text(title)
        var changes = ChangeSet()
        changes.inserts = [row]
        _ = try store.save(changes)
    }

    @Test(arguments: GraphKind.allCases)
    func aFailedSaveLeavesFileAndMemoryAsTheyWere(kind: GraphKind) throws {
        let scratch = try Scratch()
        try insert("one", into: kind.open(scratch.file))
        let before = try Data(contentsOf: scratch.file)
        var platform = Environment.system
        platform.faults = Failing(point: "store.beforePlacing")
        let store = try kind.open(scratch.file, platform: platform)
        let rows = try image(of: store)
        #expect(throws: Failing.Struck.self) { try insert("two", into: store) }
        #expect(try image(of: store) == rows)
        #expect(try Data(contentsOf: scratch.file) == before)
        #expect(scratch.names == ["store"])
    }

    @Test(arguments: GraphKind.allCases)
    func anotherProgramsChangeIsNotOverwritten(kind: GraphKind) throws {
        let scratch = try Scratch()
        let first = try kind.open(scratch.file)
        let second = try kind.open(scratch.file)
        try insert("one", into: first)
        let error = try #require(throws: StoreError.self) { try insert("two", into: second) }
        #expect(error.code == .busy)
        try insert("three", into: first)
        #expect(try allRows(of: kind.open(scratch.file)).count == 2)
    }

    /// Does something when a point is reached for the first time.
    private final class Once: FaultPoints, @unchecked Sendable {
        // @unchecked: used by one store on one thread.
        private let point: String
        var deed: (() throws -> Void)?

        init(at point: String) { self.point = point }

        func reach(_ name: String) throws {
            guard name == point, let deed else { return }
            self.deed = nil
            try deed()
        }
    }

    /// Before the file is put in its place, and before its facts are remembered.
    @Test(arguments: GraphKind.allCases, ["store.beforePlacing", "store.placed"])
    func aChangeInTheMiddleOfASaveIsNotOverwritten(kind: GraphKind, point: String) throws {
        let scratch = try Scratch()
        let meanwhile = Once(at: point)
        var platform = Environment.system
        platform.faults = meanwhile
        let store = try kind.open(scratch.file, platform: platform)
        meanwhile.deed = { try insert("theirs", into: kind.open(scratch.file)) }
        let isFirst = point == "store.placed"
        if isFirst { try insert("ours", into: store) }
        let error = #expect(throws: StoreError.self) { try insert("late", into: store) }
        #expect(error?.code == .busy && scratch.names == ["store"])
        #expect(try allRows(of: kind.open(scratch.file)).count == (isFirst ? 2 : 1))
    }

    @Test(arguments: GraphKind.allCases)
    func manyWritersLoseNothing(kind: GraphKind) throws {
        let scratch = try Scratch()
        let file = scratch.file
        _ = try kind.open(file)
        DispatchQueue.concurrentPerform(iterations: 4) { writer in
            for number in 0..<20 {
                // Another may be faster, but not for ever.
                for _ in 0..<1_000 {
                    let title = "\(writer), \(number)"
                    do { try insert(title, into: kind.open(file)) } catch { continue }
                    break
                }
            }
        }
        #expect(try allRows(of: kind.open(file)).count == 80)
    }

    /// Whoever writes the file writes another file, even one of the same bytes.
    @Test(arguments: GraphKind.allCases)
    func aFileOfTheSameSizeIsAnotherFile(kind: GraphKind) throws {
        let scratch = try Scratch()
        let store = try kind.open(scratch.file)
        try insert("one", into: store)
        try Data(contentsOf: scratch.file).write(to: scratch.file, options: .atomic)
        let error = #expect(throws: StoreError.self) { try insert("two", into: store) }
        #expect(error?.code == .busy)
    }

    @Test(arguments: GraphKind.allCases)
    func linksAndAccessRightsStay(kind: GraphKind) throws {
        let scratch = try Scratch()
        _ = try kind.open(scratch.file)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: scratch.file.path)
        let link = scratch.folder.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: scratch.file)
        try insert("one", into: kind.open(link))
        let kept = try FileManager.default.attributesOfItem(atPath: link.path)
        #expect(kept[.type] as? FileAttributeType == .typeSymbolicLink)
        let facts = try FileManager.default.attributesOfItem(atPath: scratch.file.path)
        #expect((facts[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(try allRows(of: kind.open(scratch.file)).count == 1)
    }

    @Test(arguments: GraphKind.allCases)
    func filesOfOtherKindsAreToldApart(kind: GraphKind) throws {
        let scratch = try Scratch()
        func code(_ data: Data) throws -> StoreError.Code {
            try data.write(to: scratch.file)
            return try #require(throws: StoreError.self) { try kind.open(scratch.file) }.code
        }
        #expect(try code(Data()) == .notAStore)
        #expect(try code(Data("SQLite format 3\0".utf8)) == .notAStore)
        #expect(try code(Data("hello".utf8)) == .notAStore)
        #expect(try code(Data([0xFF, 0xFE, 0x00])) == .notAStore)
        #expect(try code(Data("<model></model>".utf8)) == .notAStore)
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: NSString("a"), requiringSecureCoding: true)
        #expect([.notAStore, .corrupt].contains(try code(archive)))
        let error = try #require(throws: StoreError.self) { try kind.open(scratch.folder) }
        #expect(error.code == .cannotOpen)
    }

    @Test(arguments: GraphKind.allCases)
    func everyTruncationIsAnError(kind: GraphKind) throws {
        let scratch = try Scratch()
        let store = try kind.open(scratch.file)
        try insert("one & <two>", into: store)
        let whole = try Data(contentsOf: scratch.file)
        #expect(try kind.read(whole).objects.count == 1)
        for count in 0..<(whole.count - 1) {
            #expect(throws: StoreError.self) { try kind.read(whole.prefix(count)) }
        }
    }

    @Test(arguments: GraphKind.allCases, 1...6)
    func damageIsAnErrorOrAValueAndNeverATrap(kind: GraphKind, seed: UInt64) throws {
        let scratch = try Scratch()
        let store = try kind.open(scratch.file)
        var graph = RandomGraph(seed: seed, store: store)
        try graph.fill()
        let whole = try Data(contentsOf: scratch.file)
        var random = Seeded(seed)
        for _ in 0..<60 {
            var damaged = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<damaged.count, using: &random)
                damaged[place] = UInt8.random(in: .min ... .max, using: &random)
            }
            try damaged.write(to: scratch.file)
            do {
                _ = try image(of: kind.open(scratch.file))
            } catch {
                #expect(error is StoreError, "seed \(seed)")
            }
        }
    }

    @Test(arguments: [
        "<!DOCTYPE database [<!ENTITY a \"b\">]><database>&a;</database>",
        "<database><databaseInfo><UUID>&nothing;</UUID></databaseInfo></database>",
        "<database><databaseInfo></databaseInfo></database>",
        "<database><object type=\"A\" id=\"z1\"></object></database>",
        "<?xml version=\"1.0\" encoding=\"UTF-16\"?><database></database>",
        String(repeating: "<database>", count: 100_000),
        "<database><databaseInfo><metadata><plist>" + String(repeating: "<array>", count: 5000),
    ])
    func hostileMarkupIsRefused(text: String) throws {
        let error = try #require(throws: StoreError.self) {
            try XMLGraphFormat.read(Data(text.utf8), path: "file")
        }
        #expect([.corrupt, .notAStore].contains(error.code))
    }

    @Test(arguments: [
        #"<object type="LABEL" id="z1"/><object type="LABEL" id="z1"/>"#,
        #"<object type="LABEL"><attribute name="title" type="string">a</attribute></object>"#,
        #"<object type="LABEL" id="z1" id="z2"/>"#,
        thing(#"<attribute name="small" type="int16">x</attribute>"#),
        thing(#"<attribute name="title" type="string"><b/></attribute>"#),
        thing(#"<relationship name="box" type="1"/>"#),
        thing(#"<relationship name="box" type="0/1" idrefs="z9"/>"#),
        thing(#"<relationship name="box" type="0/1" idrefs="z1"/>"#),
        #"<object type="NOTHING" id="z1"/>"#,
        thing(#"<attribute name="no" type="string">a</attribute>"#),
    ])
    func objectsThatDoNotFitAreRefused(objects: String) throws {
        let scratch = try Scratch()
        _ = try GraphKind.xml.open(scratch.file)
        let text = try String(contentsOf: scratch.file, encoding: .utf8)
        try text.replacingOccurrences(of: "</database>", with: objects + "</database>")
            .write(to: scratch.file, atomically: true, encoding: .utf8)
        let error = try #require(throws: StoreError.self) { try GraphKind.xml.open(scratch.file) }
        #expect([.corrupt, .modelMismatch].contains(error.code))
    }

    private static func thing(_ properties: String) -> String {
        "<object type=\"THING\" id=\"z1\">\(properties)</object>"
    }

    @Test func objectsOfOtherWritersAreCompleted() throws {
        let scratch = try Scratch()
        _ = try GraphKind.xml.open(scratch.file)
        let objects = """
            <object type="BOX" id="box1">
                <relationship name="things" type="0/0" destination="THING" idrefs="b a"/>
            </object>
            <object type="THING" id="a">
                <attribute name="title" type="string"><![CDATA[<a>]]></attribute>
            </object>
            <object type="SPECIALTHING" id="b">
                <attribute name="title" type="string">&lt;b&#62;</attribute>
            </object>
            """
        let text = try String(contentsOf: scratch.file, encoding: .utf8)
        try text.replacingOccurrences(of: "</database>", with: objects + "</database>")
            .write(to: scratch.file, atomically: true, encoding: .utf8)
        let store = try GraphKind.xml.open(scratch.file)
        let rows = try allRows(of: store)
        #expect(rows.map(\.id.key) == [102, 103, 104])
        let box = try #require(store.layout.entity(named: "Box"))
        let slot = try #require(box.toManySlot("things"))
        #expect(try store.members(of: rows[0].id, toMany: slot).map(\.target.key) == [104, 103])
        let thing = try #require(store.layout.entity(named: "SpecialThing"))
        #expect(rows[2].attributes[try #require(thing.attributeSlot("title"))] == .text("<b>"))
        #expect(rows[2].toOnes[try #require(thing.toOneSlot("box"))]?.target == rows[0].id)
    }

    /// A one-to-one that a file tells from one end has two.
    @Test func aPairToldFromOneEndIsCompleted() throws {
        let scratch = try Scratch()
        _ = try GraphKind.xml.open(scratch.file)
        let objects = """
            <object type="BOX" id="z1">
                <relationship name="lid" type="0/1" destination="LABEL" idrefs="z2"/>
            </object>
            <object type="LABEL" id="z2"></object>
            """
        let text = try String(contentsOf: scratch.file, encoding: .utf8)
        try text.replacingOccurrences(of: "</database>", with: objects + "</database>")
            .write(to: scratch.file, atomically: true, encoding: .utf8)
        let rows = try allRows(of: GraphKind.xml.open(scratch.file))
        let ends = rows.map { row in row.toOnes.compactMap { $0?.target.key } }
        #expect(ends == [[2], [1]])
    }

    @Test func classesThatNoBinaryStoreHoldsAreRefused() throws {
        let forged = try PropertyListSerialization.data(
            fromPropertyList: ["$objects": ["$null"], "$top": ["root": 1]], format: .binary,
            options: 0)
        #expect(throws: StoreError.self) { try BinaryGraphFormat.read(forged, path: "file") }
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: NSSet(object: NSString("a")), requiringSecureCoding: true)
        let error = try #require(throws: StoreError.self) {
            try BinaryGraphFormat.read(archive, path: "file")
        }
        #expect(error.message.contains("NSSet"))
    }
}
