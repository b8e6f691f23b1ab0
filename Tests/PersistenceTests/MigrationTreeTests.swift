import CoreData
import Foundation
import SQLiteDriver
import Testing

/// Relationships and values of an inheritance tree that lead to fewer entities than before, or get
/// their other end: each row has what its entity has, and no link is lost.
@Suite struct MigrationTreeTests {
    static let files = LightweightMigrationTests.files

    /// Nobody makes objects of an abstract entity; those that are there stay, in every file.
    @Test(arguments: files) func anEntityThatBecomesAbstractKeepsItsObjects(
        _ kind: StoreKind
    ) throws {
        let bench = try MigrationBench(kind)
        func model(_ isAbstract: Bool) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                draft.entity("Animal", [text("name")], isAbstract: isAbstract)
                draft.entity("Cat", [text("fur")], below: "Animal")
                draft.link("Animal", "friend", .one, "Animal", "fans", .many)
            }
        }
        try bench.fill(model(false)) { context in
            let beast = context.make("Animal", ["name": "Beast"])
            _ = context.make("Cat", ["name": "Tom", "friend": beast])
        }
        for name in ["Monster", "Dragon"] {
            try bench.open(model(true)) { context throws in
                #expect(try context.all("Animal").count == 2)
                let beast = try #require(try context.one("Cat", "Tom").value(forKey: "friend"))
                (beast as? NSManagedObject)?.setValue(name, forKey: "name")
                try context.save()
            }
        }
        try bench.open(model(true), options: [:]) { context throws in
            #expect(try context.one("Animal", "Dragon").names("fans") == ["Tom"])
        }
    }

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

    // MARK: Down the tree

    /// How many rows of exactly an entity have something in a column of its table.
    private func count(
        _ bench: MigrationBench, _ entity: String, of table: String, with column: String
    ) throws -> Int64? {
        try bench.value(
            "SELECT count(*) FROM \(table) WHERE \(column) NOT NULL AND Z_ENT = "
                + "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity)')"
        )?.int64
    }

    @Test(arguments: files) func aRelationshipMovesDown(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        func model(_ owner: String) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                draft.entity("Person", [text("name")])
                draft.entity("Employee", below: "Person")
                draft.entity("Department", [text("name")])
                draft.link(owner, "department", .one, "Department", "people", .many)
            }
        }
        try bench.fill(model("Person")) { context in
            let department = context.make("Department", ["name": "D"])
            for entity in ["Person", "Employee"] {
                _ = context.make(entity, ["name": entity, "department": department])
            }
        }
        try bench.open(model("Employee")) { context throws in
            let department = try context.one("Department", "D")
            #expect(department.names("people") == ["Employee"])
            #expect(try context.one("Employee", "Employee").names("department") == ["D"])
            #expect(try context.all("Person").count == 2)
        }
        guard kind == .sqlite else { return }
        try bench.expectFreshShape(model("Employee"))
        #expect(try count(bench, "Person", of: "ZPERSON", with: "ZDEPARTMENT") == 0)
        #expect(try count(bench, "Employee", of: "ZPERSON", with: "ZDEPARTMENT") == 1)
    }

    /// Also where the attribute's column is renamed on the way.
    @Test(arguments: files, ["code", "badge"])
    func aUniqueAttributeMovesDown(_ kind: StoreKind, _ name: String) throws {
        let bench = try MigrationBench(kind)
        let old = VersionDraft.model { draft in
            draft.entity("Person", [text("name"), text("code")])
            draft.entity("Employee", below: "Person")
        }
        let new = VersionDraft.model { draft in
            draft.entity("Person", [text("name")])
            draft.entity("Employee", [text(name, from: "code")], below: "Person", unique: [[name]])
        }
        try bench.fill(old) { context in
            for number in 1...2 {
                _ = context.make("Person", ["name": "p\(number)", "code": "same"])
            }
            _ = context.make("Employee", ["name": "e", "code": "same"])
        }
        try bench.open(new) { context throws in
            #expect(try context.one("Employee", "e").string(name) == "same")
            #expect(try context.all("Person").count == 3)
        }
        guard kind == .sqlite else { return }
        try bench.expectFreshShape(new)
        #expect(
            try count(bench, "Person", of: "ZPERSON", with: "Z\(name.uppercased())") == 0)
    }

    // MARK: Fewer members

    @Test(arguments: files, [TestModel.Side.many, .ordered])
    func aManyToManyIsNarrowed(_ kind: StoreKind, _ side: TestModel.Side) throws {
        let bench = try MigrationBench(kind)
        func model(_ member: String) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                draft.entity("Person", [text("name")])
                draft.entity("Employee", below: "Person")
                draft.entity("Group", [text("name")])
                draft.link("Group", "members", side, member, "groups", .many)
            }
        }
        try bench.fill(model("Person")) { context in
            let group = context.make("Group", ["name": "G"])
            for entity in ["Person", "Employee"] {
                let member = context.make(entity, ["name": entity])
                member.setValue(Set([group]), forKey: "groups")
            }
        }
        try bench.open(model("Employee")) { context throws in
            #expect(try context.one("Group", "G").names("members") == ["Employee"])
            #expect(try context.one("Employee", "Employee").names("groups") == ["G"])
        }
        guard kind == .sqlite else { return }
        try bench.expectFreshShape(model("Employee"))
        #expect(try pairCount(bench) == 1)
    }

    /// How many pairs the one join table has.
    private func pairCount(_ bench: MigrationBench) throws -> Int64? {
        let name = try bench.value(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
        return try bench.value("SELECT count(*) FROM \(try #require(name?.string))")?.int64
    }

    @Test(arguments: files) func anEntityLeavesTheTreeOfAManyToMany(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        func model(_ isBelow: Bool) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                draft.entity("Person", [text("name")])
                draft.entity(
                    "Robot", isBelow ? [] : [text("name")], below: isBelow ? "Person" : nil)
                draft.entity("Group", [text("name")])
                draft.link("Group", "members", .many, "Person", "groups", .many)
            }
        }
        try bench.fill(model(true)) { context in
            let group = context.make("Group", ["name": "G"])
            for entity in ["Person", "Robot"] {
                let member = context.make(entity, ["name": entity])
                member.setValue(Set([group]), forKey: "groups")
            }
        }
        try bench.open(model(false)) { context throws in
            #expect(try context.one("Group", "G").names("members") == ["Person"])
            #expect(try context.all("Robot").count == 1)
        }
        guard kind == .sqlite else { return }
        try bench.expectFreshShape(model(false))
        #expect(try pairCount(bench) == 1)
    }

    @Test(arguments: files, [TestModel.Side.many, .ordered])
    func aToManyWithoutInverseIsNarrowed(_ kind: StoreKind, _ side: TestModel.Side) throws {
        let bench = try MigrationBench(kind)
        func model(_ member: String) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                draft.entity("Person", [text("name")])
                draft.entity("Employee", below: "Person")
                draft.entity("Group", [text("name")])
                draft.link("Group", "members", side, member)
            }
        }
        try bench.fill(model("Person")) { context in
            let group = context.make("Group", ["name": "G"])
            let members = ["Person", "Employee"].map { context.make($0, ["name": $0]) }
            let value: Any = side == .many ? Set(members) : NSOrderedSet(array: members)
            group.setValue(value, forKey: "members")
        }
        try bench.open(model("Employee")) { context throws in
            #expect(try context.one("Group", "G").names("members") == ["Employee"])
        }
        guard kind == .sqlite else { return }
        try bench.expectFreshShape(model("Employee"))
        let column = try #require(
            try bench.value(
                "SELECT name FROM pragma_table_info('ZPERSON') WHERE name GLOB 'Z[0-9]MEMBERS'"
            )?.string)
        #expect(try count(bench, "Person", of: "ZPERSON", with: column) == 0)
        #expect(try count(bench, "Employee", of: "ZPERSON", with: column) == 1)
    }

    /// The owners that lose the relationship are named by no member any more.
    @Test(arguments: files)
    func aToManyWithoutInverseMovesDown(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        func model(_ owner: String) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                draft.entity("Group", [text("name")])
                draft.entity("Club", below: "Group")
                draft.entity("Person", [text("name")])
                draft.link(owner, "members", .many, "Person")
            }
        }
        try bench.fill(model("Group")) { context in
            for entity in ["Group", "Club"] {
                let group = context.make(entity, ["name": entity])
                let person = context.make("Person", ["name": "in \(entity)"])
                group.setValue(Set([person]), forKey: "members")
            }
        }
        try bench.open(model("Club")) { context throws in
            #expect(try context.one("Club", "Club").names("members") == ["in Club"])
            #expect(try context.all("Person").count == 2)
        }
        guard kind == .sqlite else { return }
        try bench.expectFreshShape(model("Club"))
        let column = try #require(
            try bench.value(
                "SELECT name FROM pragma_table_info('ZPERSON') WHERE name GLOB 'Z[0-9]MEMBERS'"
            )?.string)
        #expect(try count(bench, "Person", of: "ZPERSON", with: column) == 1)
    }

    /// Rows of two trees have the same keys: those that join a tree are no members by their keys.
    @Test(arguments: files) func aJoiningEntityTakesNoMembersPlaces(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        func model(_ isBelow: Bool) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                draft.entity("Person", [text("name")])
                draft.entity(
                    "Robot", isBelow ? [] : [text("name")], below: isBelow ? "Person" : nil)
                draft.entity("Group", [text("name")])
                draft.link("Group", "members", .many, "Person")
            }
        }
        try bench.fill(model(false)) { context in
            let group = context.make("Group", ["name": "G"])
            let people = (1...3).map { context.make("Person", ["name": "p\($0)"]) }
            for number in 1...3 { _ = context.make("Robot", ["name": "r\(number)"]) }
            group.setValue(Set(people), forKey: "members")
        }
        try bench.open(model(true)) { context throws in
            #expect(try context.one("Group", "G").names("members") == ["p1", "p2", "p3"])
            #expect(try context.all("Person").count == 6)
        }
        if kind == .sqlite { try bench.expectFreshShape(model(true)) }
    }

    /// Of several members the first that may stay does, whoever comes before it.
    @Test(arguments: files, [TestModel.Side.many, .ordered])
    func ofSeveralOneOfTheNewEntityStays(_ kind: StoreKind, _ side: TestModel.Side) throws {
        let bench = try MigrationBench(kind)
        func model(_ side: TestModel.Side, _ member: String) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                draft.entity("Person", [text("name")])
                draft.entity("Employee", below: "Person")
                draft.entity("Group", [text("name")])
                draft.link("Group", "members", side, member, "groups", .many)
            }
        }
        try bench.fill(model(side, "Person")) { context throws in
            let group = context.make("Group", ["name": "G"])
            for entity in ["Person", "Employee"] {
                let member = context.make(entity, ["name": entity])
                member.setValue(Set([group]), forKey: "groups")
                try context.save()
            }
        }
        let next = model(.one, "Employee")
        try bench.open(next) { context throws in
            #expect(try context.one("Group", "G").names("members") == ["Employee"])
            #expect(try context.one("Employee", "Employee").names("groups") == ["G"])
        }
        if kind == .sqlite { try bench.expectFreshShape(next) }
    }
}
