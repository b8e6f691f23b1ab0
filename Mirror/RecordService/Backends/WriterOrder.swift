/// Who of those who write records waits for whom.
package enum WriterOrder: Sendable {
    /// Each for the former one of the same container. The more wait, the more share a trip to the
    /// disk.
    case ofContainers
    /// Each for the former one of the same database of records; more than so many at once are of
    /// no use.
    case ofDatabases(writersMax: Int)
}
