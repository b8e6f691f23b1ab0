/// Runs `body`. Nothing waits for the end of a pool off Apple's platforms: objects go as soon as
/// nobody holds them. There for sources that wrap their loops in it. Source: Apple,
/// autoreleasepool(invoking:). Queue: the caller's.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result {
    try body()
}
