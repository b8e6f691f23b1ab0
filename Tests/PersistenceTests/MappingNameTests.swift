import CoreData
import Testing

/// The names of entity mappings.
@Suite struct MappingNameTests {
    @Test func aMappingWithoutANameIsCalledAsItsEntities() {
        let mapping = NSEntityMapping()
        #expect(mapping.name as String? == "->")
        mapping.sourceEntityName = "Dog"
        #expect(mapping.name as String? == "Dog->")
        mapping.destinationEntityName = "Hound"
        #expect(mapping.name as String? == "Dog->Hound")
        mapping.name = "DogToHound"
        #expect(mapping.name as String? == "DogToHound")
        mapping.name = nil
        #expect(mapping.name as String? == "Dog->Hound")
    }
}
