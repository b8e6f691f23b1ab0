import Testing

@Suite struct HelpTests {
    @Test func nothing() {}
}
