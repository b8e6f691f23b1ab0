import Testing

@testable import ObjectModel

/// The vectors of FIPS 180-4 and its examples, and lengths around the block boundaries.
@Suite struct SHA2Tests {
    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static let short = Array("abc".utf8)
    static let twoBlocks = Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)
    static let twoLongBlocks = Array(
        ("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
            + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu").utf8)

    @Test(arguments: [
        ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (short, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (twoBlocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    ])
    func sha256MatchesTheStandard(message: [UInt8], digest: String) {
        #expect(Self.hex(SHA2.sha256(message)) == digest)
    }

    @Test(arguments: [
        (
            [UInt8](),
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
        ),
        (
            short,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        (
            twoLongBlocks,
            "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
                + "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"
        ),
    ])
    func sha512MatchesTheStandard(message: [UInt8], digest: String) {
        #expect(Self.hex(SHA2.sha512(message)) == digest)
    }

    @Test func aMillionLettersMatchTheStandard() {
        let message = [UInt8](repeating: 0x61, count: 1_000_000)
        #expect(
            Self.hex(SHA2.sha256(message))
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test(arguments: [
        (1, ("6e340b9cffb37a98", "b8244d028981d693")),
        (54, ("675f28acc0b90a72", "6d7644db575c5c23")),
        (55, ("463eb28e72f82e0a", "6856647f269c2ee3")),
        (56, ("da2ae4d6b36748f2", "8b12b2f6fe400a51")),
        (57, ("2fe741af801cc238", "92cb9f2e4eee07c7")),
        (63, ("29af2686fd53374a", "9dc9c5598e55dc42")),
        (64, ("fdeab9acf3710362", "ee4320ebaf3fdb4f")),
        (65, ("4bfd2c8b6f1eec7a", "02856cef735f9ace")),
        (110, ("a47a551b01e55aaa", "51f2ba331c24541e")),
        (111, ("60780e9451bdc43c", "a1a111449b198d9b")),
        (112, ("09373f127d34e61d", "c5fbd731d19d2ae1")),
        (113, ("13aaa9b5fb739cdb", "61b2e77db697dfe5")),
        (119, ("da18797ed7c3a777", "43e497279c2ce805")),
        (120, ("f52b23db1fbb6ded", "9636708964c5ff66")),
        (121, ("335a461692b30bba", "d5d17f592d401cb1")),
        (127, ("92ca0fa6651ee2f9", "eab89674feaa34e2")),
        (128, ("471fb943aa23c511", "1dffd5e3adb71d45")),
        (129, ("5099c6a56203f968", "1d9da57fbbdab09a")),
        (183, ("b1459345163aed1c", "37216ca069259ba3")),
        (184, ("82f63a1d007fd979", "1f2467a57006d96f")),
        (240, ("abf4bafcddb38bbf", "6c48466c9f6c07e4")),
        (256, ("40aff2e9d2d8922e", "1e7b80bc8edc552c")),
    ])
    func everyPaddingLengthIsRight(length: Int, prefixes: (String, String)) {
        let message = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        #expect(Self.hex(SHA2.sha256(message)).hasPrefix(prefixes.0))
        #expect(Self.hex(SHA2.sha512(message)).hasPrefix(prefixes.1))
    }
}
