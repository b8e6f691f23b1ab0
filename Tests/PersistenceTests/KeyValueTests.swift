import CoreData
import Foundation
import Testing

/// Key-value coding: paths, operators, many keys, proxies that write through.
@Suite struct KeyValueTests {
    /// Classes declare only these beside computed properties, also where no model says so.
    @Test(arguments: StoreKind.allCases)
    func primitiveNamesLeadToWhatIsStored(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let person = try bench.person("Ada")
        person.age = 36
        try bench.context.save()
        #expect(person.value(forKey: "primitiveName") as? String == "Ada")
        let age: Int16 = person.managedValue(forKey: "primitiveAge")
        #expect(age == 36)
        person.setManagedValue(NSNumber(value: 40) as NSNumber?, forKey: "primitiveAge")
        person.setValue(nil, forKey: "primitiveNick")
        person.setValue("Bob", forKey: "primitiveName")
        #expect(person.age == 40 && person.name == "Bob")
        #expect(person.value(forKey: "primitiveDepartment") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func operatorsComputeUponEveryKindOfCollection(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let team = try bench.make("Department", "team")
        let tags = try ["a", "b", "b"].map { try bench.make("Tag", $0) }
        let people = try ["Ada", "Bob", "Cid"].map { try bench.person($0) }
        for (person, age) in zip(people, [10, 20, 30]) {
            person.age = Int16(age)
            person.department = team
        }
        people[0].setValue(Set(tags[1...]), forKey: "tags")
        people[1].setValue([tags[0]], forKey: "tags")
        let list = try bench.make("Playlist", "list")
        list.setValue([tags[1], tags[0], tags[2]], forKey: "hits")
        try bench.context.save()
        let other = bench.newContext()
        let twin = other.object(with: team.objectID)
        func number(_ path: String) -> Double? {
            (twin.value(forKeyPath: path) as? NSNumber)?.doubleValue
        }
        #expect(number("employees.@count") == 3)
        #expect(number("employees.@sum.age") == 60 && number("employees.@avg.age") == 20)
        #expect(number("employees.@min.age") == 10 && number("employees.@max.age") == 30)
        #expect(twin.value(forKeyPath: "employees.name") as? Set<String> == ["Ada", "Bob", "Cid"])
        let union = twin.value(forKeyPath: "employees.@unionOfSets.tags.name") as? [String]
        #expect(union?.sorted() == ["a", "b"])
        let distinct = twin.value(forKeyPath: "employees.@distinctUnionOfSets.tags.name")
        #expect(distinct as? Set<String> == ["a", "b"])
        #expect(twin.value(forKeyPath: "employees.@distinctUnionOfObjects.name") is Set<String>)
        #expect(twin.value(forKeyPath: "employees.@nonsense.name") == nil)
        #expect(twin.value(forKeyPath: "employees.@min.name") as? String == "Ada")
        let ordered = other.object(with: list.objectID)
        let names = ordered.value(forKeyPath: "hits.name") as? NSOrderedSet
        #expect(names?.array as? [String] == ["b", "a"])
        let all = ordered.value(forKeyPath: "hits.@unionOfObjects.name") as? [String]
        #expect(all == ["b", "a", "b"])
        let once = ordered.value(forKeyPath: "hits.@distinctUnionOfObjects.name") as? [String]
        #expect(once == ["b", "a"])
        #expect(ordered.value(forKeyPath: "hits.@count") as? Int == 3)
        let first = other.object(with: people[0].objectID)
        #expect(first.value(forKeyPath: "tags.@count") as? Int == 2)
        #expect(first.value(forKeyPath: "department.employees.@count") as? Int == 3)
        #expect(first.value(forKeyPath: "spouse.name") == nil)
    }

    @Test func severalKeysAtOnce() throws {
        let bench = try Bench(.memory)
        let ada = try bench.person("Ada")
        ada.setValuesForKeys(["name": "Bea", "age": 7, "email": NSNull()])
        #expect(ada.name == "Bea" && ada.age == 7)
        let values = ada.dictionaryWithValues(forKeys: ["name", "email"])
        #expect(values["name"] as? String == "Bea" && values["email"] is NSNull)
        ada.department = try bench.make("Department", "d")
        ada.setValue("e", forKeyPath: "department.name")
        #expect(ada.value(forKeyPath: "department.name") as? String == "e")
        ada.department?.setValue(9, forKeyPath: "employees.age")
        #expect(ada.age == 9)
        ada.mutableSetValue(forKeyPath: "department.employees").remove(ada)
        #expect(ada.department == nil)
    }

    @Test func anObjectTellsOfItself() throws {
        let bench = try Bench(.memory)
        let ada = try bench.person("Ada")
        #expect(ada.value(forKey: "entity") as? NSEntityDescription === ada.entity)
        #expect(ada.value(forKey: "objectID") as? NSManagedObjectID === ada.objectID)
        #expect(ada.value(forKey: "isInserted") as? Bool == true)
        #expect(ada.value(forKey: "hasChanges") as? Bool == true)
        #expect(ada.value(forKey: "fault") as? Bool == false)
        #expect(ada.value(forKeyPath: "self.name") as? String == "Ada")
    }

    @Test func aTransientNumberReadsAsItsPropertyIsDeclared() throws {
        let entity = TestModel.entity("Counted", of: Counted.self)
        let speed = TestModel.attribute("speed", .integer64AttributeType)
        speed.isTransient = true
        entity.properties = [speed]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let bench = try Bench(.memory, model: model)
        let object = Counted(entity: entity, insertInto: bench.context)
        object.setValue(Int64(5), forKey: "speed")
        #expect(object.speed == 5)
        object.speed = 6
        #expect(object.value(forKey: "speed") as? Int == 6)
        object.setValue(nil, forKey: "speed")
        #expect(object.speed == 0)
    }

    @Test func classesWithoutAModelGiveEmptyObjects() {
        final class Unknown: NSManagedObject {}
        #expect(Unknown.entity().properties.isEmpty)
        let object = Unknown()
        #expect(object.managedObjectContext == nil && !object.isFault)
    }

    @Test(arguments: StoreKind.allCases)
    func orderedMembersAddedUnreadKeepTheirOrder(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let list = try bench.make("Playlist", "list")
        list.setValue([try bench.make("Song", "0")], forKey: "songs")
        try bench.context.save()
        let other = bench.newContext()
        let twin = other.object(with: list.objectID)
        #expect(twin.value(forKey: "name") as? String == "list")
        for name in ["1", "2", "3", "4", "5", "6"] {
            try bench.make("Song", name, in: other).setValue(twin, forKey: "playlist")
        }
        let names = (twin.value(forKey: "songs") as? NSOrderedSet)?.array
            .compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
        #expect(names == ["0", "1", "2", "3", "4", "5", "6"])
    }
}

private final class Counted: NSManagedObject {
    @Managed("speed") var speed: Int
}
