import CoreData
import XCTest

extension CodingUserInfoKey {
    static let managedObjectContext = CodingUserInfoKey(rawValue: "managedObjectContext")!
}

enum DecodingProblem: Error { case contextIsMissing }

/// An object that is read from JSON and written to it.
class Note: NSManagedObject, Codable {
    @NSManaged var code: String
    @NSManaged var text: String?
    @NSManaged var stars: Int64
    @NSManaged fileprivate var primitiveText: String?

    private enum CodingKeys: String, CodingKey { case code, text, stars }

    required convenience init(from decoder: Decoder) throws {
        guard
            let context = decoder.userInfo[.managedObjectContext] as? NSManagedObjectContext
        else { throw DecodingProblem.contextIsMissing }
        self.init(context: context)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        code = try values.decode(String.self, forKey: .code)
        text = try values.decodeIfPresent(String.self, forKey: .text)
        stars = try values.decode(Int64.self, forKey: .stars)
    }

    func encode(to encoder: Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(code, forKey: .code)
        try values.encodeIfPresent(text, forKey: .text)
        try values.encode(stars, forKey: .stars)
    }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        primitiveText = "new"
    }
}

/// Adds up what both sides counted.
final class AddingPolicy: NSMergePolicy {
    private var settled = 0

    init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        for conflict in list {
            guard let stored = conflict.databaseObject as? Note else { continue }
            settled += conflict.conflictingObjects.count
            for case let note as Note in conflict.conflictingObjects {
                note.stars += conflict.databaseSnapshot?["stars"] as? Int64 ?? stored.stars
            }
        }
        try super.resolve(constraintConflicts: list)
    }
}

enum NoteModel {
    /// The second version has another name for the text, and a mood.
    static func make(version: Int = 1) -> NSManagedObjectModel {
        let note = NSEntityDescription()
        note.name = "Note"
        note.managedObjectClassName =
            version == 1 ? NSStringFromClass(Note.self) : "NSManagedObject"
        let text = AppModel.attribute(version == 1 ? "text" : "body", .stringAttributeType)
        if version > 1 { text.renamingIdentifier = "text" }
        let stars = AppModel.attribute("stars", .integer64AttributeType, optional: false)
        stars.defaultValue = 0
        note.properties = [
            AppModel.attribute("code", .stringAttributeType, optional: false), text, stars,
        ]
        if version > 1 { note.properties.append(AppModel.attribute("mood", .stringAttributeType)) }
        note.uniquenessConstraints = [["code"]]
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }

    static func stack(
        at file: URL, version: Int = 1
    ) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: make(version: version))
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: nil)
        return coordinator
    }

    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }
}

final class DocumentShapeTests: XCTestCase {
    private func note(_ code: String, _ stars: Int64, _ context: NSManagedObjectContext) -> Note {
        let note = Note(context: context)
        note.code = code
        note.stars = stars
        return note
    }

    func testCodableObjects() throws {
        let context = NoteModel.context(try NoteModel.stack(at: AppModel.temporaryFile()))
        let decoder = JSONDecoder()
        let data = Data(
            #"[{"code": "a", "stars": 3}, {"code": "b", "text": "t", "stars": 1}]"#.utf8)
        XCTAssertThrowsError(try decoder.decode([Note].self, from: data))
        decoder.userInfo[.managedObjectContext] = context
        let notes = try decoder.decode([Note].self, from: data)
        XCTAssertEqual(notes.map(\.stars), [3, 1])
        XCTAssertEqual(context.insertedObjects.count, 2)
        try context.save()
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(notes[1]), as: UTF8.self)
        XCTAssertEqual(text, #"{"code":"b","stars":1,"text":"t"}"#)
    }

    func testPrimitiveAccessors() throws {
        let context = NoteModel.context(try NoteModel.stack(at: AppModel.temporaryFile()))
        let fresh = note("a", 1, context)
        XCTAssertEqual(fresh.text, "new")
        XCTAssertEqual(fresh.changedValues()["text"] as? String, "new")
    }

    func testPolicyOfOnesOwnForUniqueValues() throws {
        let coordinator = try NoteModel.stack(at: AppModel.temporaryFile())
        let (first, second) = (NoteModel.context(coordinator), NoteModel.context(coordinator))
        _ = note("a", 3, first)
        try first.save()
        second.mergePolicy = AddingPolicy()
        _ = note("a", 4, second)
        try second.save()
        let request = NSFetchRequest<Note>(entityName: "Note")
        let all = try NoteModel.context(coordinator).fetch(request)
        XCTAssertEqual(all.map(\.stars), [7])
    }

    func testUndoOfSteps() throws {
        let context = NoteModel.context(try NoteModel.stack(at: AppModel.temporaryFile()))
        let undo = UndoManager()
        undo.groupsByEvent = false
        let one = note("a", 1, context)
        try context.save()
        context.undoManager = undo
        for stars in [2, 3] as [Int64] {
            undo.beginUndoGrouping()
            one.stars = stars
            context.processPendingChanges()
            undo.setActionName("Rate \(stars)")
            undo.endUndoGrouping()
        }
        XCTAssertEqual(undo.undoActionName, "Rate 3")
        context.undo()
        XCTAssertEqual(one.stars, 2)
        context.undo()
        XCTAssertEqual(one.stars, 1)
        XCTAssertFalse(undo.canUndo)
        context.redo()
        XCTAssertEqual(one.stars, 2)
    }

    func testMigrationByHand() throws {
        let (file, target) = (AppModel.temporaryFile(), AppModel.temporaryFile())
        let old = try NoteModel.stack(at: file)
        let context = NoteModel.context(old)
        note("a", 5, context).text = "kept"
        try context.save()
        try old.persistentStores.forEach(old.remove)

        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: file, options: nil)
        let (source, destination) = (NoteModel.make(), NoteModel.make(version: 2))
        XCTAssertTrue(
            source.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        XCTAssertFalse(
            destination.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: source, destinationModel: destination)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        try manager.migrateStore(
            from: file, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
            toDestinationURL: target, destinationType: NSSQLiteStoreType, destinationOptions: nil)
        XCTAssertEqual(manager.migrationProgress, 1)
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
            .replacePersistentStore(
                at: file, destinationOptions: nil, withPersistentStoreFrom: target,
                sourceOptions: nil, ofType: NSSQLiteStoreType)

        let moved = NoteModel.context(try NoteModel.stack(at: file, version: 2))
        let notes = try moved.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
        XCTAssertEqual(notes.map { $0.value(forKey: "body") as? String }, ["kept"])
        XCTAssertEqual(notes.map { $0.value(forKey: "stars") as? Int }, [5])
    }
}
