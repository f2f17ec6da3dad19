"""Stations of 802.11a with little to send in ns-3: `python wlan_load.py STATIONS SECONDS PACKETS_PER_S SEED`.

Each station sends UDP datagrams of 1500 bytes with headers at exponentially distributed intervals to one of them, at
54 Mbit/s. The JSON that it prints has the data frames, those that overlapped with another one, and their share. As in
`wlan.py`, the queue drops nothing by its age, and the detection of preambles does not depend on interference. Run with
a Python that has the package ns3.
"""

import json
import sys

import cppyy
from ns import ns

stations, seconds, rate, seed = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
BEGIN = 1.0
ON_S = 1e-5
"""A source is on for one packet."""

ns.RngSeedManager.SetRun(seed)
ns.Config.SetDefault("ns3::WifiMacQueue::MaxSize", ns.QueueSizeValue(ns.QueueSize("100p")))
ns.Config.SetDefault("ns3::WifiMacQueue::MaxDelay", ns.TimeValue(ns.Seconds(1e6)))
nodes = ns.NodeContainer()
nodes.Create(stations + 1)
phy = ns.YansWifiPhyHelper()
phy.DisablePreambleDetectionModel()
phy.SetChannel(ns.YansWifiChannelHelper.Default().Create())
wifi = ns.WifiHelper()
wifi.SetStandard(ns.WIFI_STANDARD_80211a)
wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", ns.StringValue("OfdmRate54Mbps"))
mac = ns.WifiMacHelper()
mac.SetType("ns3::AdhocWifiMac")
devices = wifi.Install(phy, mac, nodes)
mobility = ns.MobilityHelper()
mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel")
mobility.Install(nodes)
ns.InternetStackHelper().Install(nodes)
addresses = ns.Ipv4AddressHelper()
addresses.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.255.0"))
interfaces = addresses.Assign(devices)
ns.TrafficControlHelper.Default().Uninstall(devices)
for number in range(stations):
    port = 1000 + number
    here = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), port).ConvertTo()
    ns.PacketSinkHelper("ns3::UdpSocketFactory", here).Install(nodes.Get(0))
    there = ns.InetSocketAddress(interfaces.GetAddress(0), port).ConvertTo()
    source = ns.OnOffHelper("ns3::UdpSocketFactory", there)
    source.SetAttribute("DataRate", ns.DataRateValue(ns.DataRate(int(1472 * 8 / ON_S))))
    source.SetAttribute("PacketSize", ns.UintegerValue(1472))
    source.SetAttribute("OnTime", ns.StringValue(f"ns3::ConstantRandomVariable[Constant={ON_S * 1.0001:g}]"))
    source.SetAttribute("OffTime", ns.StringValue(f"ns3::ExponentialRandomVariable[Mean={1 / rate:g}]"))
    source.Install(nodes.Get(1 + number)).Start(ns.Seconds(BEGIN + 0.001 * number))
TRACE = """
#include <string>
#include <vector>
namespace trace {
std::vector<long long> frames;
// Data frames alone: an ACK takes 28 us.
void state(std::string, ns3::Time start, ns3::Time duration, ns3::WifiPhyState state) {
    if (state == ns3::WifiPhyState::TX && duration > ns3::MicroSeconds(100)) {
        frames.push_back(start.GetNanoSeconds());
        frames.push_back(duration.GetNanoSeconds());
    }
}
void connect() {
    ns3::Config::Connect("/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/Phy/State/State", ns3::MakeCallback(&state));
}
}
"""
cppyy.cppdef(TRACE)
cppyy.gbl.trace.connect()
ns.Simulator.Stop(ns.Seconds(BEGIN + seconds))
ns.Simulator.Run()
flat = list(cppyy.gbl.trace.frames)
frames = sorted(zip(flat[::2], flat[1::2], strict=True))
overlapped = {number for at in range(1, len(frames)) if frames[at][0] < sum(frames[at - 1]) for number in (at - 1, at)}
print(json.dumps({"frames": len(frames), "collided": len(overlapped), "share": len(overlapped) / len(frames)}))
