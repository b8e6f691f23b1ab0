import CoreData
import Foundation
import SQLiteDriver
import Testing

/// Relationships and values of an inheritance tree that lead to fewer entities than before, or get
/// their other end: each row has what its entity has, and no link is lost.
@Suite struct MigrationTreeTests {
    static let files = LightweightMigrationTests.files

    // MARK: The other end

    @Test(arguments: files) func anInheritedRelationshipGetsAnInverse(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        func model(_ isLinked: Bool) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                draft.entity("Animal", [text("name")], isAbstract: true)
                draft.entity("Cat", below: "Animal")
                draft.entity("Dog", below: "Animal")
                draft.entity("Person", [text("name")])
                if isLinked {
                    draft.link("Animal", "owner", .one, "Person", "animal", .one)
                } else {
                    draft.link("Animal", "owner", .one, "Person")
                }
            }
        }
        let owners = ["Tom": "Ada", "Rex": "Bob", "Ben": "Eve"]
        try bench.fill(model(false)) { context in
            for (animal, owner) in owners {
                let person = context.make("Person", ["name": owner])
                let entity = animal == "Tom" ? "Cat" : "Dog"
                _ = context.make(entity, ["name": animal, "owner": person])
            }
            _ = context.make("Cat", ["name": "Stray"])
        }
        try bench.open(model(true)) { context throws in
            for (animal, owner) in owners {
                #expect(try context.one("Animal", animal).names("owner") == [owner])
                #expect(try context.one("Person", owner).names("animal") == [animal])
            }
            #expect(try context.one("Cat", "Stray").names("owner") == [])
        }
        if kind == .sqlite { try bench.expectFreshShape(model(true)) }
    }

    /// The end has another name without an identifier: it is made of what the other end knows.
    @Test(arguments: files) func aNewEndHasTheLinksOfSubentities(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        func model(_ end: String) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                draft.entity("Person", [text("name")])
                draft.entity("Employee", below: "Person")
                draft.entity("Passport", [text("name")])
                draft.link("Person", "passport", .one, "Passport", end, .one)
            }
        }
        try bench.fill(model("holder")) { context in
            for (entity, name) in [("Person", "Ada"), ("Employee", "Bob"), ("Employee", "Eve")] {
                let passport = context.make("Passport", ["name": "of \(name)"])
                _ = context.make(entity, ["name": name, "passport": passport])
            }
        }
        try bench.open(model("owner")) { context throws in
            for name in ["Ada", "Bob", "Eve"] {
                #expect(try context.one("Person", name).names("passport") == ["of \(name)"])
                #expect(try context.one("Passport", "of \(name)").names("owner") == [name])
            }
        }
        if kind == .sqlite { try bench.expectFreshShape(model("owner")) }
    }
}
