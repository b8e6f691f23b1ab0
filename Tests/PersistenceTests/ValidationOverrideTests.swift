import CoreData
import Foundation
import Testing

/// Rules that classes add.
@Suite struct ValidationOverrideTests {
    private func bench() throws -> Bench {
        let strict = TestModel.entity("Strict", of: Strict.self)
        strict.properties = [
            TestModel.attribute("name", .stringAttributeType, optional: false),
            TestModel.attribute("age", .integer16AttributeType, maximum: "150", default: 0),
        ]
        let heir = TestModel.entity("Heir", of: Heir.self)
        strict.subentities = [heir]
        TestModel.link(strict, "boss", .one, strict, "staff", .many)
        let model = NSManagedObjectModel()
        model.entities = [strict, heir]
        return try Bench(.sqlite, model: model)
    }

    @Test(arguments: ["Strict", "Heir"])
    func savesCallOverrides(_ name: String) throws {
        let bench = try bench()
        let type: NSManagedObject.Type = name == "Heir" ? Heir.self : Strict.self
        let object = type.init(entity: try bench.named(name), insertInto: bench.context)
        object.setValue("bad", forKey: "name")
        let error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.domain == "Strict" && error.code == 7)
        object.setValue("good", forKey: "name")
        try bench.context.save()
        object.setValue(nil, forKey: "name")
        object.setValue(200, forKey: "age")
        let both = try #require(throws: NSError.self) { try bench.context.save() }
        let details = both.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        #expect(
            Set(details.map(\.code)) == [
                NSValidationMissingMandatoryPropertyError, NSValidationNumberTooLargeError,
            ])
        object.setValue("lonely", forKey: "name")
        object.setValue(1, forKey: "age")
        let lonely = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(lonely.code == 8)
        let boss = type.init(entity: try bench.named(name), insertInto: bench.context)
        boss.setValue("boss", forKey: "name")
        object.setValue(boss, forKey: "boss")
        try bench.context.save()
    }

    @Test func validationMayChangeTheObjectAndIsAskedAgain() throws {
        let entity = TestModel.entity("Mending", of: Mending.self)
        entity.properties = [TestModel.attribute("name", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let bench = try Bench(.memory, model: model)
        let object = Mending(entity: entity, insertInto: bench.context)
        try bench.context.save()
        #expect(object.value(forKey: "name") as? String == "mended" && object.calls == 2)
        bench.context.delete(object)
        let error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.code == 9)
    }
}

private class Strict: NSManagedObject {
    override func validateValue(_ value: Any?, forKey key: String) throws {
        if value as? String == "bad" { throw NSError(domain: "Strict", code: 7) }
        if key == "boss", value == nil, self.value(forKey: "name") as? String == "lonely" {
            throw NSError(domain: "Strict", code: 8)
        }
        try super.validateValue(value, forKey: key)
    }
}

private final class Heir: Strict {}

private final class Mending: NSManagedObject {
    var calls = 0

    override func validateForInsert() throws {
        calls += 1
        if value(forKey: "name") == nil { setValue("mended", forKey: "name") }
        try super.validateForInsert()
    }

    override func validateForDelete() throws { throw NSError(domain: "Mending", code: 9) }
}
