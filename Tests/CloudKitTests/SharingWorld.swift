import CloudKit
import CoreData
import Foundation
import Testing

/// Anna, who shares folders of notes, and Bert, each with two devices, at a service over TLS.
struct SharingWorld {
    let service: LocalService
    let bert: String
    let desk: Device
    let laptop: Device
    let phone: Device
    let tablet: Device
    /// Another user, with one device, who takes part in nothing.
    let carla: Device

    /// `hasUniqueLabels`: whether a label's text is its unique key.
    init(hasUniqueLabels: Bool = false) throws {
        let model = hasUniqueLabels ? Self.makeModel(hasUniqueLabels: true) : Self.model
        let service = try LocalService()
        self.service = service
        let second = try service.user("bert")
        let third = try service.user("carla")
        bert = second.name
        desk = try service.container("desk", model: model)
        laptop = try service.container("laptop", model: model)
        func shared(_ name: String, _ address: RecordServiceAddress) throws -> Device {
            try service.container(name, of: address, model: model) {
                $0.databaseScope = .shared
            }
        }
        phone = try shared("phone", second.address)
        tablet = try shared("tablet", second.address)
        carla = try shared("carla", third.address)
    }

    /// Folders with notes, and labels that any notes have.
    static let model = makeModel(hasUniqueLabels: false)

    private static func makeModel(hasUniqueLabels: Bool) -> NSManagedObjectModel {
        func entity(_ name: String) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            let text = NSAttributeDescription()
            text.name = "text"
            text.attributeType = .stringAttributeType
            text.isOptional = true
            entity.properties = [text]
            return entity
        }
        let (folder, note, label) = (entity("Folder"), entity("Note"), entity("Label"))
        if hasUniqueLabels { label.uniquenessConstraints = [["text"]] }
        func link(
            _ from: NSEntityDescription, _ name: String, _ to: NSEntityDescription, isToMany: Bool
        ) -> NSRelationshipDescription {
            let link = NSRelationshipDescription()
            link.name = name
            link.destinationEntity = to
            link.maxCount = isToMany ? 0 : 1
            link.isOptional = true
            from.properties += [link]
            return link
        }
        for (one, other) in [
            (
                link(folder, "notes", note, isToMany: true),
                link(note, "folder", folder, isToMany: false)
            ),
            (
                link(note, "labels", label, isToMany: true),
                link(label, "notes", note, isToMany: true)
            ),
        ] {
            one.inverseRelationship = other
            other.inverseRelationship = one
        }
        let model = NSManagedObjectModel()
        model.entities = [folder, note, label]
        return model
    }

    /// Anna's folder with two notes, one of them with a label, and a note that is hers alone.
    @discardableResult
    func fill() throws -> NSManagedObject {
        let context = desk.container.newBackgroundContext()
        return try context.performAndWait {
            func make(_ entity: String, _ text: String) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(
                    forEntityName: entity, into: context)
                object.setValue(text, forKey: "text")
                return object
            }
            let folder = make("Folder", "journey")
            let (map, tickets) = (make("Note", "map"), make("Note", "tickets"))
            map.setValue(folder, forKey: "folder")
            tickets.setValue(folder, forKey: "folder")
            tickets.setValue(NSSet(object: make("Label", "urgent")), forKey: "labels")
            _ = make("Note", "diary")
            try context.saveInOrder()
            return folder
        }
    }

    /// Anna shares her folder with Bert, who takes it on his phone.
    @discardableResult
    func open(_ permission: CKShare.ParticipantPermission = .readWrite) async throws -> CKShare {
        let folder = try fill()
        let (_, share, _) = try await desk.container.share([folder], to: nil)
        let invited = try await invite(share, permission)
        try await accept(invited, on: phone)
        return invited
    }

    func invite(
        _ share: CKShare, _ permission: CKShare.ParticipantPermission
    ) async throws -> CKShare {
        let info = CKUserIdentity.LookupInfo(userRecordID: CKRecord.ID(recordName: bert))
        let found = try await desk.container.fetchParticipants(matching: [info], into: desk.store)
        found[0].permission = permission
        share.addParticipant(found[0])
        return try await desk.container.persistUpdatedShare(share, in: desk.store)
    }

    func accept(_ share: CKShare, on device: Device) async throws {
        let url = try #require(share.url)
        let metadata = try await device.container.shareMetadata(for: url)
        let accepted = try await device.container.acceptShareInvitations(
            from: [metadata], into: device.store)
        #expect(accepted.first?.participantStatus == .accepted)
    }

    /// Rounds of all, until everybody knows what everybody wrote.
    func settle(_ devices: [Device]? = nil) async throws {
        for _ in 0..<2 {
            for device in devices ?? [desk, laptop, phone, tablet] {
                _ = try await device.container.sync()
            }
        }
    }
}

extension Device {
    /// The texts of an entity's objects, sorted.
    func texts(_ entity: String) throws -> [String] {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            return try context.fetch(request).compactMap { $0.value(forKey: "text") as? String }
                .sorted()
        }
    }

    /// Changes the one object of that text. Returns its ID.
    @discardableResult
    func edit(
        _ text: String, in entity: String = "Note",
        _ change: @escaping (NSManagedObject, NSManagedObjectContext) -> Void
    ) throws -> NSManagedObjectID {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: "text == %@", text)
            let object = try #require(try context.fetch(request).first)
            change(object, context)
            try context.saveInOrder()
            return object.objectID
        }
    }

    func write(_ text: String, in entity: String) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            object.setValue(text, forKey: "text")
            try context.saveInOrder()
        }
    }

    func id(of text: String, in entity: String = "Note") throws -> NSManagedObjectID {
        try edit(text, in: entity) { _, _ in }
    }
}
