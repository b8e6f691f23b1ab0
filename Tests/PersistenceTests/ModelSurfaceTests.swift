import CoreData
import Foundation
import Testing

import class CoreData.NSExpression

/// What a program reads from descriptions and sets on them, kept through a compiled model.
@Suite struct ModelSurfaceTests {
    private func again(_ model: NSManagedObjectModel) throws -> NSManagedObjectModel {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("ModelSurface-\(UUID().uuidString).mom")
        defer { try? FileManager.default.removeItem(at: url) }
        try model.compiledData().write(to: url)
        return try .load(from: url)
    }

    @Test(arguments: [false, true])
    func aModelThatHoldsItselfIsRefusedByItsCoordinator(_ isComposite: Bool) throws {
        let (first, second) = (NSEntityDescription(), NSEntityDescription())
        (first.name, second.name) = ("First", "Second")
        if isComposite {
            let place = NSCompositeAttributeDescription()
            place.name = "place"
            place.elements = [place]
            first.properties = [place]
        } else {
            first.subentities = [second]
            second.subentities = [first]
        }
        let model = NSManagedObjectModel()
        model.entities = [first, second]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let error = #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        }
        #expect(error?.code == NSCoreDataError)
        #expect(error?.localizedDescription.contains(isComposite ? "elements" : "inherits") == true)
    }

    @Test func aStoredRequestIsSetReadAndKept() throws {
        let model = TestModel.make()
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        request.predicate = NSPredicate(format: "age > $AGE AND name CONTAINS[cd] %@", "a")
        request.sortDescriptors = [
            NSSortDescriptor(key: "name", ascending: false, comparison: .localizedStandard)
        ]
        request.fetchLimit = 7
        request.includesSubentities = false
        model.setFetchRequestTemplate(request, forName: "older")
        let read = try #require(again(model).fetchRequestTemplate(forName: "older"))
        #expect(read.predicate?.description == "age > $AGE AND name CONTAINS[cd] \"a\"")
        #expect(read.sortDescriptors?.first?.key == "name")
        #expect(read.sortDescriptors?.first?.ascending == false)
        #expect(read.fetchLimit == 7)
        #expect(!read.includesSubentities)
        #expect(read.entity == nil || read.entity?.name == "Person")
        let bound = try again(model).fetchRequestFromTemplate(
            withName: "older", substitutionVariables: ["AGE": 20])
        #expect(bound?.predicate?.description == "age > 20 AND name CONTAINS[cd] \"a\"")
        model.setFetchRequestTemplate(nil, forName: "older")
        #expect(model.fetchRequestTemplate(forName: "older") == nil)
    }

    @Test func aFetchedPropertysRequestIsSetReadAndObeyed() throws {
        let model = TestModel.make()
        let property = NSFetchedPropertyDescription()
        property.name = "namesakes"
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == $FETCH_SOURCE.name")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
        property.fetchRequest = request
        try #require(model.entitiesByName["Person"]).declaredProperties.append(property)
        let read = try again(model).entitiesByName["Person"]?.propertiesByName["namesakes"]
        let kept = (read as? NSFetchedPropertyDescription)?.fetchRequest
        #expect(kept?.predicate?.description == "name == $FETCH_SOURCE.name")
        #expect(kept?.entityName == "Person")
        let bench = try Bench(.sqlite, model: model)
        let people = try [30, 50, 40].map { age in
            let person = try bench.person("Ada")
            person.setValue(age, forKey: "age")
            return person
        }
        try bench.context.save()
        let found = people[0].value(forKey: "namesakes") as? [Person]
        #expect(found == [people[1], people[2], people[0]])
    }

    @Test func rulesSetInCodeHoldAndAreKept() throws {
        let model = TestModel.make()
        let nick = try #require(
            model.entitiesByName["Person"]?.attributesByName["nick"])
        #expect(nick.validationPredicates.map(\.description).contains { $0.contains("length") })
        #expect(nick.validationWarnings.contains { $0 as? Int == 1660 })
        nick.setValidationPredicates(
            [NSPredicate(format: "SELF CONTAINS %@", "x")],
            withValidationWarnings: ["A nick has an x."])
        for model in [model, try again(model)] {
            let bench = try Bench(.memory, model: model)
            let person = try bench.person("Ada")
            person.setValue("abc", forKey: "nick")
            let error = #expect(throws: NSError.self) { try bench.context.save() }
            #expect(error?.localizedDescription == "A nick has an x.")
            #expect(error?.userInfo[NSValidationPredicateErrorKey] is NSPredicate)
            person.setValue("a very long text with an x", forKey: "nick")
            try bench.context.save()
        }
    }

    @Test func predicatesAndExpressionsOfDescriptionsAreKept() throws {
        let model = TestModel.make()
        let person = try #require(model.entitiesByName["Person"])
        let expression = NSExpressionDescription()
        expression.name = "nameLength"
        expression.expression = NSExpression(format: "length:(name)")
        expression.resultType = .integer64
        let age = try #require(person.attributesByName["age"])
        let index = NSFetchIndexDescription(
            name: "grown",
            elements: [
                NSFetchIndexElementDescription(property: age, collationType: .binary),
                NSFetchIndexElementDescription(property: expression, collationType: .binary),
            ])
        index.partialIndexPredicate = NSPredicate(format: "age >= 18")
        person.indexes = [index]
        let derived = NSDerivedAttributeDescription()
        derived.name = "plainName"
        derived.attributeType = .stringAttributeType
        derived.derivationExpression = NSExpression(format: "canonical:(name)")
        person.declaredProperties.append(derived)
        let read = try #require(try again(model).entitiesByName["Person"])
        let kept = try #require(read.indexes.first)
        #expect(kept.partialIndexPredicate?.description == "age >= 18")
        #expect(kept.elements[1].expressionText == "length:(name)")
        #expect(kept.elements[1].expressionResultType == .integer64AttributeType)
        let again = read.attributesByName["plainName"] as? NSDerivedAttributeDescription
        #expect(again?.derivationExpression?.description == "canonical:(name)")
        let twin = try #require(expression.copy() as? NSExpressionDescription)
        #expect(twin.expression?.description == "length:(name)")
        #expect(twin.name == "nameLength")
    }
}
