import Foundation
import MirrorEngine
import Testing

@Suite struct UUIDTextTests {
    @Test func aUUIDIsSpelledAndReadAsFoundationDoes() {
        for _ in 0..<1_000 {
            let uuid = UUID()
            #expect(uuid.spelled == uuid.uuidString)
            #expect(UUID(spelled: uuid.uuidString) == uuid)
            #expect(UUID(spelled: uuid.uuidString.lowercased()) == uuid)
        }
    }

    @Test(arguments: [
        "", "no", "00000000-0000-0000-0000-00000000000", "00000000-0000-0000-0000-0000000000000",
        "00000000-0000-0000-0000-00000000000g", "000000000000-0000-0000-000000000000-",
        "00000000+0000-0000-0000-000000000000", "é0000000-0000-0000-0000-00000000000",
        " 0000000-0000-0000-0000-000000000000", "{0000000-0000-0000-0000-00000000000}",
    ])
    func whatFoundationDoesNotReadIsNotRead(_ text: String) {
        #expect(UUID(spelled: text) == UUID(uuidString: text))
    }
}
