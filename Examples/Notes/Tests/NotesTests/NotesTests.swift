import CoreData
import Foundation
import NotesModel
import Testing

/// What `@NSManaged` members do, with and without optimization.
@Suite(.serialized) final class NotesTests {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("NotesTests-\(UUID().uuidString)")
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        container = try NotesStack.open(at: folder.appendingPathComponent("Notes.sqlite"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The object as a second container reads it from the file.
    private func reread<Object: NSManagedObject>(_ object: Object) throws -> Object {
        try context.save()
        context.reset()
        let id = object.objectID
        return try #require(try context.existingObject(with: id) as? Object)
    }

    @Test func valuesOfEveryKindAreKept() throws {
        var note = Note(context: context)
        #expect(note.title == nil)
        #expect(note.priority == .normal)
        let day = Date(timeIntervalSinceReferenceDate: 1234.5)
        note.title = "Peas"
        note.created = day
        note.isPinned = true
        note.priority = .high
        note.rating = NSDecimalNumber(string: "4.25")
        note = try reread(note)
        #expect(note.title == "Peas")
        #expect(note.created == day)
        #expect(note.isPinned)
        #expect(note.priority == .high)
        #expect(note.rating == NSDecimalNumber(string: "4.25"))
        note.title = nil
        note.created = nil
        note = try reread(note)
        #expect(note.title == nil)
        #expect(note.created == nil)
    }

    @Test func changesInPlaceAreSaved() throws {
        var folder = Folder(context: context)
        folder.position += 41
        folder.position += 1
        folder.name = "a"
        folder.name?.append("b")
        func grow(_ number: inout Int16) { number *= 2 }
        grow(&folder.position)
        folder = try reread(folder)
        #expect(folder.position == 84)
        #expect(folder.name == "ab")
    }

    @Test func keyPathsReachTheAccessors() throws {
        let folder = Folder(context: context)
        let path: ReferenceWritableKeyPath<Folder, Int16> = \.position
        folder[keyPath: path] = 7
        #expect(folder[keyPath: path] == 7)
        #expect(folder.value(forKey: "position") as? Int16 == 7)
    }

    @Test func bothEndsOfALinkFollow() throws {
        var note = Note(context: context)
        let first = Tag(context: context)
        let second = Tag(context: context)
        (first.name, second.name) = ("a", "b")
        note.addToTags(first)
        second.addToNotes(note)
        #expect(note.tags == [first, second])
        note.removeFromTags(first)
        #expect(first.notes?.count == 0)
        #expect(second.label == "#b")
        note = try reread(note)
        #expect(note.tags.map(\.name) == ["b"])
        note.tags = []
        #expect(note.tags.isEmpty)
    }

    @Test func generatedAccessorsTakeCollections() throws {
        let tag = Tag(context: context)
        let notes = (0..<3).map { _ in Note(context: context) }
        tag.addToNotes(NSSet(array: notes))
        #expect(tag.notes?.count == 3)
        tag.removeFromNotes(NSSet(array: [notes[0], notes[1]]))
        #expect(tag.notes?.allObjects as? [Note] == [notes[2]])
    }

    @Test func orderedAccessorsKeepTheOrder() throws {
        var folder = Folder(context: context)
        let notes = (0..<5).map { index in
            let note = Note(context: context)
            note.title = "\(index)"
            return note
        }
        func titles() -> String {
            (folder.notes?.array as? [Note] ?? []).map { $0.title ?? "" }.joined()
        }
        folder.addToNotes(notes[0])
        folder.insertIntoNotes(notes[1], at: 0)
        folder.addToNotes(NSOrderedSet(array: [notes[2], notes[3]]))
        #expect(titles() == "1023")
        folder.insertIntoNotes([notes[4]], at: NSIndexSet(index: 1))
        #expect(titles() == "14023")
        folder.removeFromNotes(at: 0)
        folder.removeFromNotes(at: NSIndexSet(indexSet: [1, 2]))
        #expect(titles() == "43")
        folder.replaceNotes(at: 1, with: notes[0])
        folder.replaceNotes(at: NSIndexSet(index: 0), with: [notes[1]])
        #expect(titles() == "10")
        #expect(notes[0].folder === folder)
        #expect(notes[3].folder == nil)
        folder = try reread(folder)
        #expect(titles() == "10")
        folder.removeFromNotes(folder.notes ?? [])
        #expect(titles() == "")
    }

    @Test func primitiveValuesMakeNoChange() throws {
        let note = Note(context: context)
        note.title = "a"
        try context.save()
        note.correctTitle(to: "b")
        #expect(note.title == "b")
        #expect(!note.isUpdated)
    }

    @Test func anEntityThatInheritsHasAClassThatInherits() throws {
        var photo = Photo(context: context)
        photo.title = "Rose"
        photo.width = 12.5
        photo.image = Data([1, 2, 3])
        photo = try reread(photo)
        #expect((photo as Note).title == "Rose")
        #expect(photo.width == 12.5)
        #expect(photo.image == Data([1, 2, 3]))
        let request: NSFetchRequest<Photo> = Photo.fetchRequest()
        #expect(try context.fetch(request) == [photo])
    }

    @Test func sortingByKeyPathReachesTheStore() throws {
        for position in [2, 1, 3] { Folder(context: context).position = Int16(position) }
        try context.save()
        let request: NSFetchRequest<Folder> = Folder.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Folder.position, ascending: false)]
        #expect(try context.fetch(request).map(\.position) == [3, 2, 1])
    }

    @Test func theCompiledModelNamesItsClasses() throws {
        let names = container.managedObjectModel.entities.map(\.managedObjectClassName)
        #expect(Set(names) == Set(["Folder", "Note", "Photo", "Tag"].map { "NotesModel.\($0)" }))
        let made = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
        #expect(made is Photo)
    }

    @Test func classesWithAnIDAreIdentifiable() throws {
        let folder = Folder(context: context)
        let id = UUID()
        folder.id = id
        func identity(_ value: some Identifiable) -> AnyHashable { value.id }
        #expect(identity(folder) == AnyHashable(Optional(id)))
    }
}
