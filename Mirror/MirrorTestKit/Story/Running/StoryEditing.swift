internal import Foundation
internal import ObjectModel
internal import Persistence
internal import Stores

/// Does a story's edits on a device's objects.
struct StoryEditing {
    /// What an edit that was saved says to the laws.
    enum Fact {
        case made(String, entity: String)
        case wrote(StoryProperty, AttributeValue, previous: AttributeValue?)
        case deleted(String)
    }

    /// A write whose value is known once it was saved: the app may have changed it.
    private struct PendingWrite {
        let property: StoryProperty
        let attribute: NSAttributeDescription
        let object: NSManagedObject
        let previous: AttributeValue?
    }

    let world: StoryWorld
    let device: ManagedDevice
    private(set) var facts: [Fact] = []
    private var writes: [PendingWrite] = []

    init(world: StoryWorld, device: ManagedDevice) {
        self.world = world
        self.device = device
    }

    mutating func perform(_ deed: StoryDeed) throws {
        switch deed {
        case .insert(let entity, let handle, let values): try insert(entity, handle, values)
        case .set(let property, let value):
            try change(property.handle) { editing, object in
                try editing.set(property.name, of: object, to: value, handle: property.handle)
            }
        case .add(let values, let property):
            try change(property.handle) { try $0.add(values, to: property, of: $1) }
        case .remove(let members, let property):
            try change(property.handle) { try $0.remove(members, from: property, of: $1) }
        case .move(let member, let place, let property):
            try change(property.handle) { try $0.move(member, place, in: property, of: $1) }
        case .delete(let handle):
            try change(handle) { editing, object in
                editing.device.context.delete(object)
                editing.facts.append(.deleted(handle))
            }
        case .begin: device.holdsEdits = true
        case .save:
            try device.save()
            try adopt()
        case .undo:
            try device.edit { $0.undo() }
        case .takeBack: device.rollback()
        default: break
        }
    }

    // MARK: Objects

    private mutating func insert(
        _ entity: String, _ handle: String, _ values: [StoryAssignment]
    ) throws {
        guard device.setting.model.entitiesByName[entity] != nil else {
            throw StoryError("The model of \(device.name) has no entity \(entity).")
        }
        guard !world.objects.contains(handle), device.unsaved[handle] == nil else {
            throw StoryError("An object is called \(handle) already.")
        }
        var copy = self
        defer { self = copy }
        do {
            try device.edit { context in
                let object = NSEntityDescription.insertNewObject(
                    forEntityName: entity, into: context)
                copy.device.unsaved[handle] = object
                copy.facts.append(.made(handle, entity: entity))
                for value in values {
                    try copy.set(value.property, of: object, to: value.value, handle: handle)
                }
                for (name, attribute) in object.entity.attributesByName where attribute.isPlain {
                    copy.writes.append(
                        PendingWrite(
                            property: StoryProperty(handle, name), attribute: attribute,
                            object: object, previous: nil))
                }
            }
        } catch {
            device.unsaved[handle] = nil
            throw error
        }
        copy.settleWrites()
        if !device.holdsEdits { try adopt() }
    }

    /// What was written is what the objects have now.
    private mutating func settleWrites() {
        device.context.performAndWait {
            for write in writes where !write.object.isDeleted {
                facts.append(
                    .wrote(
                        write.property, current(write.attribute, of: write.object),
                        previous: write.previous))
            }
        }
        writes = []
    }

    /// Objects that were saved are known by their rows from now on.
    private func adopt() throws {
        let store = world.store(of: device.name)
        for (handle, object) in device.unsaved {
            guard let row = object.objectID.rowID else { continue }
            world.objects.made(handle, row: row, in: store)
            device.unsaved[handle] = nil
        }
    }

    private mutating func change(
        _ handle: String, _ body: (inout StoryEditing, NSManagedObject) throws -> Void
    ) throws {
        var copy = self
        defer { self = copy }
        try device.edit { _ in
            try body(&copy, copy.world.object(handle, on: copy.device))
        }
        copy.settleWrites()
    }

    // MARK: Values

    private mutating func set(
        _ name: String, of object: NSManagedObject, to literal: StoryLiteral, handle: String
    ) throws {
        if let attribute = object.entity.attributesByName[name] {
            let value = try StoryValue.value(literal, for: attribute)
            write(value, attribute, of: object, handle)
            return
        }
        guard let relationship = object.entity.relationshipsByName[name] else {
            throw StoryError("The model of \(device.name) has no \(name) of \(handle).")
        }
        guard !relationship.isToMany else {
            throw StoryError("\(name) has many members.", "Use adds and removes.")
        }
        switch literal {
        case .nothing: object.setValue(nil, forKey: name)
        case .word(let other), .text(let other):
            object.setValue(try target(other, of: relationship), forKey: name)
        }
    }

    private mutating func write(
        _ value: AttributeValue, _ attribute: NSAttributeDescription, of object: NSManagedObject,
        _ handle: String
    ) {
        if !object.isInserted {
            writes.append(
                PendingWrite(
                    property: StoryProperty(handle, attribute.name), attribute: attribute,
                    object: object, previous: current(attribute, of: object)))
        }
        object.setValue(
            StoryValue.object(value, attribute.attributeType), forKey: attribute.name)
    }

    private func target(
        _ handle: String, of relationship: NSRelationshipDescription
    ) throws -> NSManagedObject {
        let object = try world.object(handle, on: device)
        guard let wanted = relationship.destinationEntity, object.entity.isKindOf(entity: wanted)
        else {
            throw StoryError(
                "\(relationship.name) leads to \(relationship.destinationEntity?.name ?? ""), "
                    + "which \(handle) is not.")
        }
        return object
    }

    /// The attribute as a row would have it.
    private func current(
        _ attribute: NSAttributeDescription, of object: NSManagedObject
    ) -> AttributeValue {
        switch object.value(forKey: attribute.name) {
        case let text as String: .text(text)
        case let date as Date: .date(date.timeIntervalSinceReferenceDate)
        case let uuid as UUID: .uuid(uuid)
        case let url as URL: .uri(url.absoluteString)
        case let data as Data: .data(data)
        case let number as Decimal where attribute.attributeType == .decimalAttributeType:
            .decimal(number)
        case let number as NSNumber: Self.number(number, attribute.attributeType)
        case let flag as Bool: .integer(flag ? 1 : 0)
        case let number as Int64: .integer(number)
        case let number as Int32: .integer(Int64(number))
        case let number as Int16: .integer(Int64(number))
        case let number as Int: .integer(Int64(number))
        case let number as Double: .double(number)
        case let number as Float: .double(Double(number))
        default: .null
        }
    }

    private static func number(_ number: NSNumber, _ type: NSAttributeType) -> AttributeValue {
        switch type {
        case .doubleAttributeType, .floatAttributeType: .double(number.doubleValue)
        case .decimalAttributeType: .decimal(number.decimalValue)
        default: .integer(number.int64Value)
        }
    }

    // MARK: Members

    private mutating func add(
        _ literals: [StoryLiteral], to property: StoryProperty, of object: NSManagedObject
    ) throws {
        if let attribute = object.entity.attributesByName[property.name] {
            for literal in literals {
                let added = try StoryValue.value(literal, for: attribute)
                guard let sum = StoryValue.sum(current(attribute, of: object), added) else {
                    throw StoryError("That cannot be added to \(property.text).")
                }
                write(sum, attribute, of: object, property.handle)
            }
            return
        }
        let relationship = try members(property, of: object)
        for literal in literals {
            guard case .word(let handle) = literal else {
                throw StoryError("Objects are added to \(property.text).", "Name them.")
            }
            let member = try target(handle, of: relationship)
            if relationship.isOrdered {
                let list = object.mutableOrderedSetValue(forKey: relationship.name)
                if list.index(of: member) == NSNotFound {
                    list.insert(member, at: list.count)
                }
            } else {
                object.addObject(member, toRelationshipNamed: relationship.name)
            }
        }
    }

    private func members(
        _ property: StoryProperty, of object: NSManagedObject
    ) throws -> NSRelationshipDescription {
        guard let relationship = object.entity.relationshipsByName[property.name],
            relationship.isToMany
        else {
            throw StoryError("\(property.text) has no members.", "Use sets for one value.")
        }
        return relationship
    }

    private func remove(
        _ handles: [String], from property: StoryProperty, of object: NSManagedObject
    ) throws {
        let relationship = try members(property, of: object)
        for handle in handles {
            object.removeObject(
                try target(handle, of: relationship), fromRelationshipNamed: relationship.name)
        }
    }

    private func move(
        _ handle: String, _ place: StoryPlace, in property: StoryProperty,
        of object: NSManagedObject
    ) throws {
        let relationship = try members(property, of: object)
        guard relationship.isOrdered else {
            throw StoryError("\(property.text) has no order.", "Write 'ordered' at its relation.")
        }
        let list = object.mutableOrderedSetValue(forKey: relationship.name)
        let member = try target(handle, of: relationship)
        let former = list.index(of: member)
        if former != NSNotFound { list.removeObject(at: former) }
        let index: Int
        switch place {
        case .start: index = 0
        case .end: index = list.count
        case .before(let other): index = list.index(of: try target(other, of: relationship))
        case .after(let other):
            let found = list.index(of: try target(other, of: relationship))
            index = found == NSNotFound ? found : found + 1
        }
        list.insert(member, at: index == NSNotFound ? list.count : index)
    }
}

extension NSAttributeDescription {
    /// Whether a story can write its values.
    var isPlain: Bool {
        guard !isTransient, !(self is NSDerivedAttributeDescription) else { return false }
        switch attributeType {
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType,
            .transformableAttributeType:
            return false
        default: return true
        }
    }
}
