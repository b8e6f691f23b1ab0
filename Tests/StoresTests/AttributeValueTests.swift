import Stores
import Testing

@Suite struct AttributeValueTests {
    /// As in Foundation's strings, and as the file keeps them.
    @Test func textsThatOnlyLookAlikeAreTwoValues() {
        let (composed, decomposed) = ("Zo\u{EB}", "Zoe\u{308}")
        #expect(AttributeValue.text(composed) != .text(decomposed))
        #expect(AttributeValue.uri(composed) != .uri(decomposed))
        #expect(AttributeValue.text(composed) == .text("Zo\u{EB}"))
        #expect(AttributeValue.text("") != .uri(""))
        #expect(Set<AttributeValue>([.text(composed), .text(decomposed)]).count == 2)
    }
}
