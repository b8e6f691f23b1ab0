import CloudKit
import CoreData
import Foundation
import MirrorEngine
import RecordWire
import Testing

/// What is sent, by entity and by predicate.
@Suite struct SelectionTests {
    private let service: LocalService
    private let phone: Device

    init() throws {
        service = try LocalService()
        phone = try service.container("phone", model: SharingWorld.model)
    }

    private func desk(_ choose: (inout SyncSelection) -> Void) throws -> Device {
        var selection = SyncSelection()
        choose(&selection)
        return try service.container("desk", model: SharingWorld.model) {
            $0.selection = selection
        }
    }

    private func notPrivate(_ selection: inout SyncSelection) {
        selection.include(
            entity: "Note", where: NSPredicate(format: "NOT text BEGINSWITH 'private'"))
    }

    private func settle(_ desk: Device) async throws {
        for device in [desk, phone, desk] { #expect(try await device.container.sync()) }
    }

    @Test func whatIsOutsideStaysHere() async throws {
        let desk = try desk(notPrivate)
        try desk.write("open", in: "Note")
        try desk.write("private diary", in: "Note")
        try await settle(desk)
        #expect(try phone.texts("Note") == ["open"])
        let status = try desk.container.status(of: desk.store)
        #expect(status?.keptHere == 1 && status?.isInSync == true)
        let id = try desk.id(of: "private diary")
        #expect(try desk.container.syncState(forManagedObjectWith: id) == .keptHere)
        // Deleted here, nobody hears of it.
        try desk.edit("private diary") { note, context in context.delete(note) }
        try await settle(desk)
        #expect(try desk.container.status(of: desk.store)?.keptHere == 0)
    }

    @Test func whatLeavesIsDeletedNowhereElseAndMayComeBack() async throws {
        let desk = try desk(notPrivate)
        try desk.write("one", in: "Note")
        try desk.write("two", in: "Note")
        try await settle(desk)
        for text in ["one", "two"] {
            try desk.edit(text) { note, _ in note.setValue("private \(text)", forKey: "text") }
        }
        try await settle(desk)
        #expect(try phone.texts("Note") == ["one", "two"])
        try desk.edit("private one") { note, context in context.delete(note) }
        try desk.edit("private two") { note, _ in note.setValue("two again", forKey: "text") }
        try await settle(desk)
        #expect(try phone.texts("Note") == ["one", "two again"])
        #expect(try desk.texts("Note") == ["two again"])
        // Somebody edits it: it is of interest again.
        try phone.edit("one") { note, _ in note.setValue("one more", forKey: "text") }
        for device in [phone, desk] { #expect(try await device.container.sync()) }
        #expect(try desk.texts("Note") == ["one more", "two again"])
    }

    @Test func othersEditsMeetWhatIsOutsideByTheRules() async throws {
        let desk = try desk(notPrivate)
        try desk.write("one", in: "Note")
        try await settle(desk)
        try desk.edit("one") { note, _ in note.setValue("private", forKey: "text") }
        try phone.edit("one") { note, _ in note.setValue("edited", forKey: "text") }
        for device in [phone, desk, phone] { #expect(try await device.container.sync()) }
        #expect(try desk.texts("Note") == ["private"] && phone.texts("Note") == ["edited"])
        let log = try #require(desk.container.mirroredStore(of: desk.store)).conflicts()
        #expect(log.map(\.remote) == [.string("edited")])
        try phone.edit("edited") { note, context in context.delete(note) }
        for device in [phone, desk] { #expect(try await device.container.sync()) }
        #expect(try desk.texts("Note").isEmpty)
        let lost = try #require(desk.container.mirroredStore(of: desk.store)).conflicts()
        #expect(lost.last?.local == .string("private"))
        #expect(try desk.container.status(of: desk.store)?.keptHere == 0)
    }

    @Test func linksToWhatIsOutsideWaitForIt() async throws {
        func fill(_ device: Device) throws {
            try device.write("journey", in: "Folder")
            try device.edit("journey", in: "Folder") { folder, context in
                for (text, label) in [("open", "a"), ("private", "b")] {
                    let note = NSEntityDescription.insertNewObject(
                        forEntityName: "Note", into: context)
                    note.setValue(text, forKey: "text")
                    note.setValue(folder, forKey: "folder")
                    let mark = NSEntityDescription.insertNewObject(
                        forEntityName: "Label", into: context)
                    mark.setValue(label, forKey: "text")
                    note.setValue(NSSet(object: mark), forKey: "labels")
                }
            }
        }
        let desk = try desk(notPrivate)
        try fill(desk)
        try await settle(desk)
        #expect(try phone.texts("Note") == ["open"] && phone.texts("Label") == ["a", "b"])
        // Another selection, on the open store, lets it in with its links.
        let options = try #require(
            desk.container.persistentStoreDescriptions.first?.cloudKitContainerOptions)
        options.selection = nil
        try desk.container.startMirroring(desk.store, with: options)
        try await settle(desk)
        #expect(try phone.texts("Note") == ["open", "private"])
        try phone.edit("private") { note, _ in
            #expect(note.value(forKey: "folder") != nil)
            #expect((note.value(forKey: "labels") as? NSSet)?.count == 1)
        }
    }

    @Test func whatComesAtLastLeadsToNothingThatWasDeletedMeanwhile() async throws {
        try phone.write("open", in: "Note")
        try phone.edit("open") { note, context in
            let folder = NSEntityDescription.insertNewObject(forEntityName: "Folder", into: context)
            folder.setValue("journey", forKey: "text")
            note.setValue(folder, forKey: "folder")
        }
        let desk = try desk { $0.exclude(entity: "Note") }
        for device in [phone, desk] { #expect(try await device.container.sync()) }
        #expect(try desk.texts("Note").isEmpty && desk.texts("Folder") == ["journey"])
        try desk.edit("journey", in: "Folder") { folder, context in context.delete(folder) }
        let options = try #require(
            desk.container.persistentStoreDescriptions.first?.cloudKitContainerOptions)
        options.selection = nil
        try desk.container.startMirroring(desk.store, with: options)
        try await settle(desk)
        try desk.edit("open") { note, _ in
            #expect(note.value(forKey: "folder") == nil)
        }
        #expect(try phone.texts("Folder").isEmpty && phone.texts("Note") == ["open"])
    }

    /// By a rule for what is not there, what was meant to stay would be sent.
    @Test func aSelectionOfWhatTheModelLacksIsRefused() throws {
        let unknown = try desk { $0.exclude(entity: "Diary") }
        #expect((unknown.failure as? CKError)?.code == .invalidArguments)
        #expect("\(try #require(unknown.failure))".contains("an entity Diary"))
        #expect(try unknown.container.status(of: unknown.store) == nil)
        let wrong = try service.container("laptop", model: SharingWorld.model) {
            var selection = SyncSelection()
            selection.include(entity: "Note", where: NSPredicate(format: "isOpen == YES"))
            $0.selection = selection
        }
        #expect("\(try #require(wrong.failure))".contains("isOpen"))
    }

    @Test func anExcludedEntityNeitherGoesNorComes() async throws {
        let desk = try desk { $0.exclude(entity: "Label") }
        try desk.write("mine", in: "Label")
        try phone.write("theirs", in: "Label")
        try phone.write("note", in: "Note")
        try await settle(desk)
        #expect(try desk.texts("Label") == ["mine"] && desk.texts("Note") == ["note"])
        #expect(try phone.texts("Label") == ["theirs"])
        let options = try #require(
            desk.container.persistentStoreDescriptions.first?.cloudKitContainerOptions)
        options.selection = nil
        try desk.container.startMirroring(desk.store, with: options)
        try await settle(desk)
        #expect(try desk.texts("Label") == ["mine", "theirs"])
        #expect(try phone.texts("Label") == ["mine", "theirs"])
    }
}
