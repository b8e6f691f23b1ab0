import Foundation
import ObjectModel
import Persistence
import Platform
import SQLiteDriver
import SQLiteStore
import Stores

/// What the processes of these tests share: a model, and how they open its store.
enum TwoProcesses {
    static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            return attribute
        }
        let large = attribute("large", .binaryDataAttributeType)
        large.allowsExternalBinaryDataStorage = true
        let note = NSEntityDescription()
        note.name = "Note"
        note.declaredProperties = [
            attribute("writer", .integer64AttributeType),
            attribute("number", .integer64AttributeType),
            attribute("text", .stringAttributeType), large,
        ]
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }

    static func open(
        _ path: String, busyMilliseconds: Int32 = 30_000, faults: any FaultPoints = NoFaults()
    ) throws -> SQLiteRowStore {
        var options = SQLiteStoreOptions()
        options.busyMilliseconds = busyMilliseconds
        var platform = Environment.system
        platform.faults = faults
        return try SQLiteRowStore(
            url: URL(fileURLWithPath: path), model: model(), options: options, platform: platform)
    }

    /// Adds notes in one save: two, so that half a save would show.
    static func write(
        _ store: SQLiteRowStore, writer: Int64, number: Int64, bytes: Data? = nil
    ) throws {
        guard let layout = store.layout.entities.first,
            let (writerSlot, numberSlot, largeSlot) = slots(of: layout)
        else { return }
        var changes = ChangeSet()
        for key in try store.reserveKeys(entity: layout.number, count: 2) {
            var row = Row(id: RowID(entity: layout.number, key: key), layout: layout)
            row.attributes[writerSlot] = .integer(writer)
            row.attributes[numberSlot] = .integer(number)
            if let bytes { row.attributes[largeSlot] = .data(bytes) }
            changes.inserts.append(row)
        }
        _ = try store.save(changes)
    }

    private static func slots(of layout: EntityLayout) -> (Int, Int, Int)? {
        guard let writer = layout.attributeSlot("writer"),
            let number = layout.attributeSlot("number"), let large = layout.attributeSlot("large")
        else { return nil }
        return (writer, number, large)
    }

    /// The highest number of each writer, after a look at whether every save is there whole.
    static func check(_ store: SQLiteRowStore) throws -> [Int64: Int64] {
        try store.read { transaction in
            let rows = try transaction.connection.rows(
                "SELECT ZWRITER, ZNUMBER, count(*) FROM ZNOTE GROUP BY 1, 2 ORDER BY 1, 2")
            var highest: [Int64: Int64] = [:]
            for row in rows {
                let (writer, number) = (row[0].int64 ?? 0, row[1].int64 ?? 0)
                guard row[2] == 2, number == (highest[writer] ?? 0) + 1 else {
                    throw HalfASave(writer: writer, number: number)
                }
                highest[writer] = number
            }
            return highest
        }
    }

    struct HalfASave: Error {
        var writer: Int64
        var number: Int64
    }
}

/// Ends the process at a named point, as a crash would: nothing is cleaned up.
struct DeadlyFaults: FaultPoints {
    let point: String

    func reach(_ name: String) throws {
        if name == point { kill(getpid(), SIGKILL) }
    }
}
